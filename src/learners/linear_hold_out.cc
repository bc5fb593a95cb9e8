#include "bregboost/learners/linear_hold_out.h"

#include <fmt/format.h>

#include <stdexcept>

#include "detail/option_checks.h"
#include "learners/detail/hold_out_limits.h"
#include "learners/detail/linear_steps.h"
#include "learners/detail/no_constraints.h"

namespace bregboost {
namespace {

void CheckColumns(const FeatureMatrix& features, const FeatureMatrix& training, const char* name) {
  if (features.columns() == training.columns()) return;
  throw std::invalid_argument(
      fmt::format("features of the {} rows: {} columns; allowed: as many as of the training rows, "
                  "{}",
                  name, features.columns(), training.columns()));
}

void CheckUnseen(const ConstrainedFeatures& unseen, const ConstrainedFeatures& training) {
  const RowData& rows = unseen.objective.rows();
  if (unseen.features.rows() != rows.num_rows()) {
    throw std::invalid_argument(
        fmt::format("features of the unseen rows: {} rows; allowed: as many as labels, {}",
                    unseen.features.rows(), rows.num_rows()));
  }
  if (rows.labels.levels != training.objective.rows().labels.levels) {
    throw std::invalid_argument(
        "labels of the unseen rows: other classes; allowed: those of the training rows, in the "
        "same order");
  }
}

}  // namespace

LinearHoldOut::LinearHoldOut(const ConstrainedFeatures& training, const ConstrainedFeatures& unseen,
                             const LinearHoldOutOptions& options,
                             const std::optional<FeatureMatrix>& reserved)
    : training_objective_(training.objective),
      unseen_objective_(unseen.objective),
      training_(training.constraints),
      unseen_(unseen.constraints),
      unseen_features_(unseen.features),
      reserved_features_(reserved),
      learner_(training.features, training.objective, options.linear),
      requested_steps_(options.steps) {
  detail::RequireAtLeast<std::int64_t>("steps", options.steps, 1);
  detail::CheckSameRows(training.objective, training.constraints, "training");
  detail::CheckSameRows(unseen.objective, unseen.constraints, "unseen");
  detail::CheckAlike(training.constraints, unseen.constraints);
  CheckUnseen(unseen, training);
  CheckColumns(unseen.features, training.features, "unseen");
  if (reserved) CheckColumns(*reserved, training.features, "reserved");
  scores_.resize(unseen.features.rows() * unseen.objective.rows().num_scores());
  ScoreUnseenRows();
}

double LinearHoldOut::objective() const { return unseen_objective_.Evaluate(scores_); }

LearnerValues LinearHoldOut::Evaluate(const ConstraintSet& constraints) const {
  detail::CheckNotOfTraining(constraints, training_, unseen_);
  return CrossFitLearner::Evaluate(constraints);
}

StepOutcome LinearHoldOut::Step(const ProximalStep& step) {
  const StepOutcome outcome = detail::SolveStep(
      learner_, step, detail::OnTrainingRows(step.constraints, training_, unseen_));
  ++steps_;
  ScoreUnseenRows();
  return outcome;
}

StepOutcome LinearHoldOut::StepOnCosts(std::span<const double> costs, double /*tau*/) {
  const StepOutcome outcome =
      detail::SolveOnCosts(learner_, training_objective_, training_.compiled().cells, costs);
  ++steps_;
  ScoreUnseenRows();
  return outcome;
}

std::span<const double> LinearHoldOut::ReservedScores() const {
  if (reserved_features_ && reserved_scores_.empty()) {
    const LinearModel model = Model();
    reserved_scores_.resize(reserved_features_->rows() *
                            static_cast<std::size_t>(model.intercept.size()));
    reserved_features_->Multiply(model.coefficients, model.intercept, reserved_scores_);
  }
  return reserved_scores_;
}

void LinearHoldOut::UseAverage() {
  learner_.UseAverage();
  ScoreUnseenRows();
}

void LinearHoldOut::Restore(const ModelState& state) {
  learner_.Restore(state);
  ScoreUnseenRows();
}

double LinearHoldOut::StationarityResidual(const ConstraintSet& constraints,
                                           std::span<const double> multipliers,
                                           double objective_weight) const {
  const ConstraintSet* limits = detail::OnTrainingRows(&constraints, training_, unseen_);
  const detail::NoConstraints none;
  return learner_.StationarityResidual(limits == nullptr ? none : *limits, multipliers,
                                       objective_weight);
}

LinearModel LinearHoldOut::Model(const ModelAdjustment& adjustment) const {
  return Adjusted({.coefficients = learner_.coefficients(), .intercept = learner_.intercept()},
                  adjustment);
}

void LinearHoldOut::ScoreUnseenRows() {
  unseen_features_.Multiply(learner_.coefficients(), learner_.intercept(), scores_);
  reserved_scores_.clear();
}

}  // namespace bregboost
