// One booster that is trained on some rows and scores others after each round: scores, loss and
// rates are those of rows that it was not trained on, while derivatives come from its own training
// rows. It takes a fifth of the work of five folds (learners/lockstep.h) and gives up the rows that
// it only scores.
//
// As a ProximalLearner: x is the booster, D_W is taken over the training rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "bregboost/learners/boosted.h"
#include "bregboost/learners/cross_fit.h"
#include "bregboost/model/model_adjustment.h"
#include "bregboost/problem/objective.h"
#include "bregboost/problem/rate_constraints.h"

namespace bregboost {

// The same rows as features, in the loss and in the rates; all outlive the learner.
template <class Dataset>
struct ConstrainedRows {
  const Dataset& dataset;
  const Objective& objective;
  const RateConstraints& constraints;
};

class HoldOutLearner final : public CrossFitLearner {
 public:
  // Both sets have the same constraints, each bound to its own rows. `reserved` rows are set aside
  // for certification: they are scored, and nothing else. Early stopping goes by the loss on the
  // unseen rows. Throws LibraryError, or std::invalid_argument.
  static std::unique_ptr<HoldOutLearner> LightGbm(const ConstrainedRows<LightGbmDataset>& training,
                                                  const ConstrainedRows<LightGbmDataset>& unseen,
                                                  const BoostedOptions& options,
                                                  const LightGbmDataset* reserved = nullptr);
  static std::unique_ptr<HoldOutLearner> Xgboost(const ConstrainedRows<XgboostDataset>& training,
                                                 const ConstrainedRows<XgboostDataset>& unseen,
                                                 const BoostedOptions& options,
                                                 const XgboostDataset* reserved = nullptr);

  std::span<const double> scores() const override;  // of the unseen rows
  double objective() const override;                // on the unseen rows
  // `constraints` are bound to the unseen rows.
  LearnerValues Evaluate(const ConstraintSet& constraints) const override;
  // Takes unseen() or training(), which stand for the same limits.
  StepOutcome Step(const ProximalStep& step) override;

  const RateConstraints& unseen() const override { return unseen_; }
  const RateConstraints& training() const override { return training_; }
  StepOutcome StepOnCosts(std::span<const double> costs, double tau) override;
  std::span<const double> ReservedScores() const override;
  bool stops_early() const override { return learner_->stops_early(); }
  std::int64_t requested_rounds() const override { return learner_->requested_rounds(); }
  std::int64_t rounds_per_step() const override { return learner_->rounds_per_step(); }
  void SetRoundsPerStep(std::int64_t rounds) override { learner_->SetRoundsPerStep(rounds); }
  std::int64_t rounds_done() const override { return learner_->num_rounds(); }

  void SetAnchor() override { learner_->SetAnchor(); }
  double AnchorDistance() const override { return learner_->AnchorDistance(); }
  void AccumulateAverage(double weight) override { learner_->AccumulateAverage(weight); }
  void ResetAverage() override { learner_->ResetAverage(); }
  void UseAverage() override { learner_->UseAverage(); }
  void ReturnToBest() override { learner_->ReturnToBest(); }
  std::unique_ptr<ModelState> Save() const override { return learner_->Save(); }
  void Restore(const ModelState& state) override { learner_->Restore(state); }
  bool has_segments() const override { return true; }
  void EndSegment(std::span<ModelState* const> kept, detail::ByteWriter& out) override {
    learner_->EndSegment(kept, out);
  }
  std::vector<std::unique_ptr<ModelState>> TakeUp(detail::ByteReader& in) override {
    return learner_->TakeUp(in);
  }
  double StationarityResidual(const ConstraintSet& constraints, std::span<const double> multipliers,
                              double objective_weight) const override;
  double ScoreSensitivity() const override { return learner_->ScoreSensitivity(); }
  double StrongConvexity() const override { return learner_->StrongConvexity(); }

  const BoostedLearner& booster() const { return *learner_; }
  // The model as a file of the stock library: text for LightGBM, UBJSON for XGBoost.
  std::string Model(const ModelAdjustment& adjustment = {}) const {
    return learner_->Model(adjustment);
  }

 private:
  HoldOutLearner(const RateConstraints& training, const RateConstraints& unseen,
                 std::unique_ptr<BoostedLearner> learner);
  // The limits on the training rows that `constraints` stand for; null: none.
  const ConstraintSet* OnTrainingRows(const ConstraintSet* constraints) const;

  const RateConstraints& training_;
  const RateConstraints& unseen_;
  std::unique_ptr<BoostedLearner> learner_;
};

}  // namespace bregboost
