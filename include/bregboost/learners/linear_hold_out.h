// One linear model that is trained on some rows and scores others: the linear counterpart of
// learners/hold_out.h. Scores, loss and rates are those of rows that it was not trained on, while
// steps are taken on its own training rows.
//
// As a ProximalLearner: x is the model, D_W is that of learners/linear.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bregboost/data/feature_matrix.h"
#include "bregboost/learners/cross_fit.h"
#include "bregboost/learners/linear.h"
#include "bregboost/learners/linear_model.h"
#include "bregboost/problem/objective.h"
#include "bregboost/problem/rate_constraints.h"

namespace bregboost {

// The same rows as features, in the loss and in the rates. What the features look at, objective and
// constraints outlive the learner.
struct ConstrainedFeatures {
  const FeatureMatrix& features;
  const Objective& objective;
  const RateConstraints& constraints;
};

struct LinearHoldOutOptions {
  LinearOptions linear = {};
  std::int64_t steps = 50;  // what requested_rounds() answers; >= 1

  bool operator==(const LinearHoldOutOptions&) const = default;
};

class LinearHoldOut final : public CrossFitLearner {
 public:
  // Both sets have the same classes and the same constraints, each bound to its own rows.
  // `reserved` rows are set aside for certification: they are scored, and nothing else. Throws
  // std::invalid_argument.
  LinearHoldOut(const ConstrainedFeatures& training, const ConstrainedFeatures& unseen,
                const LinearHoldOutOptions& options,
                const std::optional<FeatureMatrix>& reserved = std::nullopt);

  std::span<const double> scores() const override { return scores_; }  // of the unseen rows
  double objective() const override;  // on the unseen rows, without the penalty
  // `constraints` are bound to the unseen rows.
  LearnerValues Evaluate(const ConstraintSet& constraints) const override;
  // Takes unseen() or training(), which stand for the same limits. Solved to a gradient of 1e-6,
  // from where the last step ended.
  StepOutcome Step(const ProximalStep& step) override;
  // Solved to the end: `tau` has no say, since coefficients have no common scale.
  StepOutcome StepOnCosts(std::span<const double> costs, double tau) override;

  const RateConstraints& unseen() const override { return unseen_; }
  const RateConstraints& training() const override { return training_; }
  std::span<const double> ReservedScores() const override;
  bool solves_steps() const override { return true; }
  std::int64_t requested_rounds() const override { return requested_steps_; }
  std::int64_t rounds_per_step() const override { return 1; }
  std::int64_t rounds_done() const override { return steps_; }  // steps since it was made

  void SetAnchor() override { learner_.SetAnchor(); }
  double AnchorDistance() const override { return learner_.AnchorDistance(); }
  void AccumulateAverage(double weight) override { learner_.AccumulateAverage(weight); }
  void ResetAverage() override { learner_.ResetAverage(); }
  void UseAverage() override;
  std::unique_ptr<ModelState> Save() const override { return learner_.Save(); }
  void Restore(const ModelState& state) override;
  double StationarityResidual(const ConstraintSet& constraints, std::span<const double> multipliers,
                              double objective_weight) const override;
  double ScoreSensitivity() const override { return learner_.ScoreSensitivity(); }
  double StrongConvexity() const override { return learner_.StrongConvexity(); }

  LinearModel Model(const ModelAdjustment& adjustment = {}) const;

 private:
  void ScoreUnseenRows();

  const Objective& training_objective_;
  const Objective& unseen_objective_;
  const RateConstraints& training_;
  const RateConstraints& unseen_;
  FeatureMatrix unseen_features_;
  std::optional<FeatureMatrix> reserved_features_;
  LinearLearner learner_;
  std::vector<double> scores_;                   // of the unseen rows, class-major
  mutable std::vector<double> reserved_scores_;  // empty until asked for
  std::int64_t requested_steps_;
  std::int64_t steps_ = 0;
};

}  // namespace bregboost
