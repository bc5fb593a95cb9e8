// XGBoost on some rows of a DMatrix, the others without weight: binned data have no subsets there.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bregboost/data/row_data.h"
#include "bregboost/learners/boosted.h"
#include "bregboost/learners/cross_fit.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "bregboost/problem/objective.h"
#include "bregboost/problem/rate_constraints.h"

namespace bregboost::detail {

class MaskedXgboost {
 public:
  // `constraints` are bound to the rows to train on, which are rows `in_data`, rising, of `data`.
  // Constraints are copied to the longer table of rows; cells and limits keep their numbers.
  // `apart` are data sets that are scored, and nothing else.
  MaskedXgboost(const XgboostDataset& data, const RateConstraints& constraints,
                std::span<const std::int32_t> in_data, const ObjectiveOptions& objective,
                const BoostedOptions& options, const std::vector<XgboostDataset>& apart = {});
  MaskedXgboost(const MaskedXgboost&) = delete;
  MaskedXgboost& operator=(const MaskedXgboost&) = delete;

  BoostedLearner& learner() { return *learner_; }
  const BoostedLearner& learner() const { return *learner_; }
  const RateConstraints& constraints() const { return constraints_; }
  // Scores of any rows of the data set, class-major.
  std::vector<double> ScoresOf(std::span<const std::int32_t> data_rows) const;

 private:
  RowData rows_;  // as many as the data set has
  Objective objective_;
  RateConstraints constraints_;
  std::unique_ptr<BoostedLearner> learner_;
};

// Rows that are only scored: some of the data set that is trained on, or a data set of their own.
struct ScoredRows {
  std::vector<std::int32_t> in_data = {};
  const XgboostDataset* own = nullptr;
};

// A hold-out within one DMatrix, or beside it, see learners/hold_out.h.
class MaskedHoldOut final : public CrossFitLearner {
 public:
  // What the rows are in the loss and in the rates.
  struct Part {
    const Objective& objective;
    const RateConstraints& constraints;
  };
  MaskedHoldOut(const XgboostDataset& data, const Part& training,
                std::span<const std::int32_t> training_in_data, const Part& unseen,
                ScoredRows unseen_rows, ScoredRows reserved_rows, const BoostedOptions& options);

  std::span<const double> scores() const override;
  double objective() const override { return unseen_.objective.Evaluate(scores()); }
  StepOutcome Step(const ProximalStep& step) override;
  StepOutcome StepOnCosts(std::span<const double> costs, double tau) override;
  const RateConstraints& unseen() const override { return unseen_.constraints; }
  const RateConstraints& training() const override { return training_; }
  std::span<const double> ReservedScores() const override;
  bool stops_early() const override { return early_stopping_rounds_ > 0; }
  std::int64_t requested_rounds() const override { return booster().requested_rounds(); }
  std::int64_t rounds_per_step() const override { return booster().rounds_per_step(); }
  void SetRoundsPerStep(std::int64_t rounds) override { booster().SetRoundsPerStep(rounds); }
  std::int64_t rounds_done() const override { return booster().num_rounds(); }
  void ReturnToBest() override;

  void SetAnchor() override { booster().SetAnchor(); }
  double AnchorDistance() const override { return booster().AnchorDistance(); }
  void AccumulateAverage(double weight) override { booster().AccumulateAverage(weight); }
  void ResetAverage() override { booster().ResetAverage(); }
  void UseAverage() override;
  std::unique_ptr<ModelState> Save() const override;
  void Restore(const ModelState& state) override;
  bool has_segments() const override { return true; }
  void EndSegment(std::span<ModelState* const> kept, ByteWriter& out) override;
  std::vector<std::unique_ptr<ModelState>> TakeUp(ByteReader& in) override;
  double StationarityResidual(const ConstraintSet& constraints, std::span<const double> multipliers,
                              double objective_weight) const override;
  double ScoreSensitivity() const override { return booster().ScoreSensitivity(); }
  double StrongConvexity() const override { return booster().StrongConvexity(); }

  std::string Model(const ModelAdjustment& adjustment) const { return booster().Model(adjustment); }

 private:
  // With the scores, if they are there: XGBoost would walk all trees for them after a return.
  struct State final : ModelState {
    std::unique_ptr<ModelState> booster;
    std::vector<double> scores, reserved_scores;
  };

  BoostedLearner& booster() { return masked_.learner(); }
  const BoostedLearner& booster() const { return masked_.learner(); }
  std::string CheckUnseenLoss();
  void ForgetScores();  // the model changes
  std::vector<double> ReadRows(const ScoredRows& rows, std::size_t set) const;
  const ConstraintSet* OnMaskedRows(const ConstraintSet* constraints) const;

  const RateConstraints& training_;
  Part unseen_;
  ScoredRows unseen_rows_, reserved_rows_;
  std::int64_t early_stopping_rounds_;
  MaskedXgboost masked_;
  double best_loss_ = std::numeric_limits<double>::infinity();
  std::int64_t best_round_ = 0;
  std::unique_ptr<ModelState> best_state_;
  mutable std::vector<double> scores_, reserved_scores_;  // empty: to be read
};

}  // namespace bregboost::detail
