// K linear models, each trained on the rows outside its fold, which score the rows inside: the
// linear counterpart of learners/lockstep.h. The model is the mean of their coefficients, which is
// the mean of their scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bregboost/data/feature_matrix.h"
#include "bregboost/learners/cross_fit.h"
#include "bregboost/learners/linear.h"
#include "bregboost/learners/linear_model.h"
#include "bregboost/model/model_adjustment.h"
#include "bregboost/problem/objective.h"

namespace bregboost {

struct LinearFoldsOptions {
  LinearOptions linear = {};
  std::size_t num_folds = 5;
  std::uint64_t seed = 0;   // of the folds, which are stratified by the constraints' cells
  std::int64_t steps = 50;  // what requested_rounds() answers; >= 1
  // Features of rows that are set aside for certification.
  std::optional<FeatureMatrix> reserved = std::nullopt;
};

class LinearFolds final : public CrossFitLearner {
 public:
  // `constraints` are bound to the same rows as `objective`; both outlive the learner, as does what
  // `features` looks at.
  LinearFolds(const FeatureMatrix& features, const Objective& objective,
              const RateConstraints& constraints, const LinearFoldsOptions& options);
  ~LinearFolds() override;

  std::span<const double> scores() const override;  // out of fold
  double objective() const override;                // out of fold
  // Steps are solved to a gradient of 1e-6, from where the last one ended.
  StepOutcome Step(const ProximalStep& step) override;
  // Solved to the end: `tau` has no say, since coefficients have no common scale.
  StepOutcome StepOnCosts(std::span<const double> costs, double tau) override;

  const RateConstraints& unseen() const override;
  const RateConstraints& training() const override;
  std::span<const double> ReservedScores() const override;
  std::size_t models_per_row() const override;
  std::vector<double> TrainedScores(std::size_t m) const override;
  bool solves_steps() const override { return true; }
  std::int64_t requested_rounds() const override;
  std::int64_t rounds_per_step() const override { return 1; }
  std::int64_t rounds_done() const override;  // steps since it was made

  void SetAnchor() override;
  double AnchorDistance() const override;
  void AccumulateAverage(double weight) override;
  void ResetAverage() override;
  void UseAverage() override;
  std::unique_ptr<ModelState> Save() const override;
  void Restore(const ModelState& state) override;
  double StationarityResidual(const ConstraintSet& constraints, std::span<const double> multipliers,
                              double objective_weight) const override;
  double ScoreSensitivity() const override;
  double StrongConvexity() const override;

  std::span<const std::int32_t> fold_of_row() const;
  LinearModel Model(const ModelAdjustment& adjustment = {}) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bregboost
