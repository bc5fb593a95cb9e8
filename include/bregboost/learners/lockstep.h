// K fold boosters that grow together: booster k is trained on the rows outside fold k and scores
// those inside, so that every row has an out-of-fold score, and every constraint its rate on rows
// that the model has not seen, after each step.
//
// As a ProximalLearner: x is the tuple of the fold models, scores() and objective() are out of
// fold, while each booster's derivatives come from its own training rows. Solvers then move
// multipliers on unseen rows. D_W is the mean over the folds.
//
// The data set may hold rows that no fold trains on and no multiplier moves on, reserved for
// certification: the mean of the fold models, which is what Model() is, scores them.
//
// Folds share one binned data set: LightGBM trains on subsets of it, XGBoost on all of it with zero
// weight for the rows left out (a QuantileDMatrix has no subsets). Each booster has one thread, and
// as many folds run at once as there are cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bregboost/learners/boosted.h"
#include "bregboost/learners/cross_fit.h"
#include "bregboost/model/model_adjustment.h"
#include "bregboost/problem/objective.h"
#include "bregboost/problem/rate_constraints.h"

namespace bregboost {

struct LockstepOptions {
  // num_threads (nthread) limits how many folds run at once. With two rounds per step the cores
  // need to wait for each other half as often. Early stopping goes by the out-of-fold loss.
  BoostedOptions boosting = {};
  std::size_t num_folds = 5;
  std::uint64_t seed = 0;  // of the folds, which are stratified by the constraints' cells
  // The fold of each of the objective's rows, in place of folds drawn by the seed; empty: drawn.
  std::vector<std::int32_t> fold_of_row = {};
  // The data set's row of each row of objective and constraints, rising; empty: they are the same.
  std::vector<std::int32_t> rows = {};
  // Rows of the data set that are set aside for certification, rising, none of them in `rows`; the
  // alternative to a data set of such rows. Rows that are in neither list are left alone.
  std::vector<std::int32_t> reserved_rows = {};
};

class LockstepLearner final : public CrossFitLearner {
 public:
  // `constraints` are bound to the same rows as `objective`; steps take that very set. All three
  // outlive the learner. `reserved` rows are for certification: they are scored, and nothing else.
  // Throws ConstraintError where a fold's training rows lack what a constraint names.
  static std::unique_ptr<LockstepLearner> LightGbm(const LightGbmDataset& data,
                                                   const Objective& objective,
                                                   const RateConstraints& constraints,
                                                   const LockstepOptions& options,
                                                   const LightGbmDataset* reserved = nullptr);
  static std::unique_ptr<LockstepLearner> Xgboost(const XgboostDataset& data,
                                                  const Objective& objective,
                                                  const RateConstraints& constraints,
                                                  const LockstepOptions& options,
                                                  const XgboostDataset* reserved = nullptr);
  ~LockstepLearner() override;

  std::span<const double> scores() const override;  // out of fold
  double objective() const override;                // out of fold
  LearnerValues Evaluate(const ConstraintSet& constraints) const override;
  StepOutcome Step(const ProximalStep& step) override;

  // Both are the constraints given to the factory.
  const RateConstraints& unseen() const override;
  const RateConstraints& training() const override;
  StepOutcome StepOnCosts(std::span<const double> costs, double tau) override;
  // The mean over the folds, in the order of the rows that were reserved.
  std::span<const double> ReservedScores() const override;
  std::size_t models_per_row() const override { return num_folds() - 1; }
  std::vector<double> TrainedScores(std::size_t m) const override;
  bool stops_early() const override;
  std::int64_t requested_rounds() const override;
  std::int64_t rounds_per_step() const override;
  void SetRoundsPerStep(std::int64_t rounds) override;
  std::int64_t rounds_done() const override;  // of the fold that has most

  void SetAnchor() override;
  double AnchorDistance() const override;
  void AccumulateAverage(double weight) override;
  void ResetAverage() override;
  void UseAverage() override;
  void ReturnToBest() override;
  std::unique_ptr<ModelState> Save() const override;
  void Restore(const ModelState& state) override;
  bool has_segments() const override { return true; }
  void EndSegment(std::span<ModelState* const> kept, detail::ByteWriter& out) override;
  std::vector<std::unique_ptr<ModelState>> TakeUp(detail::ByteReader& in) override;
  double StationarityResidual(const ConstraintSet& constraints, std::span<const double> multipliers,
                              double objective_weight) const override;
  double ScoreSensitivity() const override { return 1.0; }
  double StrongConvexity() const override { return 0.0; }

  std::size_t num_folds() const;
  std::span<const std::int32_t> fold_of_row() const;  // of the objective's rows
  const BoostedLearner& fold(std::size_t k) const;

  // The mean of the fold models as one plain model: the trees of all of them, leaves scaled.
  std::string Model(const ModelAdjustment& adjustment = {}) const;

 private:
  class Impl;
  explicit LockstepLearner(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace bregboost
