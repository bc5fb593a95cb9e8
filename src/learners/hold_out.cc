#include "bregboost/learners/hold_out.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "learners/detail/hold_out_limits.h"
#include "learners/detail/no_constraints.h"

namespace bregboost {
namespace {

// The sets that the booster scores apart.
constexpr std::size_t kUnseenSet = 0;
constexpr std::size_t kReservedSet = 1;

// The checks, and the sets that are only scored.
template <class Dataset>
std::vector<HeldOut<Dataset>> ScoredSets(const ConstrainedRows<Dataset>& training,
                                         const ConstrainedRows<Dataset>& unseen,
                                         const Dataset* reserved) {
  detail::CheckSameRows(training.objective, training.constraints, "training");
  detail::CheckSameRows(unseen.objective, unseen.constraints, "unseen");
  detail::CheckAlike(training.constraints, unseen.constraints);
  std::vector<HeldOut<Dataset>> sets = {
      {.dataset = unseen.dataset, .objective = &unseen.objective}};
  if (reserved != nullptr) sets.push_back({.dataset = *reserved});
  return sets;
}

}  // namespace

HoldOutLearner::HoldOutLearner(const RateConstraints& training, const RateConstraints& unseen,
                               std::unique_ptr<BoostedLearner> learner)
    : training_(training), unseen_(unseen), learner_(std::move(learner)) {}

std::unique_ptr<HoldOutLearner> HoldOutLearner::LightGbm(
    const ConstrainedRows<LightGbmDataset>& training,
    const ConstrainedRows<LightGbmDataset>& unseen, const BoostedOptions& options,
    const LightGbmDataset* reserved) {
  const std::vector<HeldOut<LightGbmDataset>> scored = ScoredSets(training, unseen, reserved);
  return std::unique_ptr<HoldOutLearner>(new HoldOutLearner(
      training.constraints, unseen.constraints,
      BoostedLearner::LightGbm(training.dataset, training.objective, options, scored)));
}

std::unique_ptr<HoldOutLearner> HoldOutLearner::Xgboost(
    const ConstrainedRows<XgboostDataset>& training, const ConstrainedRows<XgboostDataset>& unseen,
    const BoostedOptions& options, const XgboostDataset* reserved) {
  const std::vector<HeldOut<XgboostDataset>> scored = ScoredSets(training, unseen, reserved);
  return std::unique_ptr<HoldOutLearner>(new HoldOutLearner(
      training.constraints, unseen.constraints,
      BoostedLearner::Xgboost(training.dataset, training.objective, options, scored)));
}

std::span<const double> HoldOutLearner::scores() const {
  return learner_->HeldOutScores(kUnseenSet);
}

double HoldOutLearner::objective() const {
  return learner_->EvaluateHeldOut(kUnseenSet, detail::NoConstraints()).objective;
}

LearnerValues HoldOutLearner::Evaluate(const ConstraintSet& constraints) const {
  detail::CheckNotOfTraining(constraints, training_, unseen_);
  return learner_->EvaluateHeldOut(kUnseenSet, constraints);
}

const ConstraintSet* HoldOutLearner::OnTrainingRows(const ConstraintSet* constraints) const {
  return detail::OnTrainingRows(constraints, training_, unseen_);
}

StepOutcome HoldOutLearner::Step(const ProximalStep& step) {
  ProximalStep on_training_rows = step;
  on_training_rows.constraints = OnTrainingRows(step.constraints);
  return learner_->Step(on_training_rows);
}

StepOutcome HoldOutLearner::StepOnCosts(std::span<const double> costs, double tau) {
  return learner_->StepOnCosts(training_.compiled().cells, costs, tau);
}

std::span<const double> HoldOutLearner::ReservedScores() const {
  if (learner_->num_held_out() <= kReservedSet) return {};
  return learner_->HeldOutScores(kReservedSet);
}

double HoldOutLearner::StationarityResidual(const ConstraintSet& constraints,
                                            std::span<const double> multipliers,
                                            double objective_weight) const {
  const ConstraintSet* on_training_rows = OnTrainingRows(&constraints);
  const detail::NoConstraints none;
  return learner_->StationarityResidual(on_training_rows == nullptr ? none : *on_training_rows,
                                        multipliers, objective_weight);
}

}  // namespace bregboost
