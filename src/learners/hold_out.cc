#include "bregboost/learners/hold_out.h"

#include <fmt/format.h>

#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "learners/detail/no_constraints.h"

namespace bregboost {
namespace {

// The sets that the booster scores apart.
constexpr std::size_t kUnseenSet = 0;
constexpr std::size_t kReservedSet = 1;

template <class Dataset>
void CheckSameRows(const ConstrainedRows<Dataset>& set, const char* name) {
  if (&set.objective.rows() == &set.constraints.rows()) return;
  throw std::invalid_argument(fmt::format(
      "constraints of the {} rows: bound to other rows than the objective; allowed: the same "
      "RowData",
      name));
}

// Multipliers belong to rows of g, so both sets must have the same ones.
void CheckAlike(const RateConstraints& training, const RateConstraints& unseen) {
  const auto& of_training = training.compiled().constraints;
  const auto& of_unseen = unseen.compiled().constraints;
  if (of_training.size() != of_unseen.size()) {
    throw std::invalid_argument(
        fmt::format("constraints of the unseen rows: {}; allowed: those of the training rows, {}",
                    of_unseen.size(), of_training.size()));
  }
  for (std::size_t j = 0; j < of_training.size(); ++j) {
    if (!(of_training[j].source == of_unseen[j].source)) {
      throw std::invalid_argument(
          fmt::format("constraints of the unseen rows: '{}'; allowed: that of the training rows, "
                      "'{}'",
                      ToText(of_unseen[j].source), ToText(of_training[j].source)));
    }
    if (of_training[j].num_rows != of_unseen[j].num_rows) {
      throw std::invalid_argument(
          fmt::format("constraints: '{}' compares groups that only one of the training and the "
                      "unseen rows has; allowed: the same groups in both",
                      ToText(of_training[j].source)));
    }
  }
}

// The checks, and the sets that are only scored.
template <class Dataset>
std::vector<HeldOut<Dataset>> ScoredSets(const ConstrainedRows<Dataset>& training,
                                         const ConstrainedRows<Dataset>& unseen,
                                         const Dataset* reserved) {
  CheckSameRows(training, "training");
  CheckSameRows(unseen, "unseen");
  CheckAlike(training.constraints, unseen.constraints);
  std::vector<HeldOut<Dataset>> sets = {
      {.dataset = unseen.dataset, .objective = &unseen.objective}};
  if (reserved != nullptr) sets.push_back({.dataset = *reserved});
  return sets;
}

}  // namespace

HoldOutLearner::HoldOutLearner(const RateConstraints& training, const RateConstraints& unseen,
                               const BoostedOptions& options,
                               std::unique_ptr<BoostedLearner> learner)
    : training_(training),
      unseen_(unseen),
      rounds_per_step_(options.rounds_per_step),
      learner_(std::move(learner)) {}

std::unique_ptr<HoldOutLearner> HoldOutLearner::LightGbm(
    const ConstrainedRows<LightGbmDataset>& training,
    const ConstrainedRows<LightGbmDataset>& unseen, const BoostedOptions& options,
    const LightGbmDataset* reserved) {
  const std::vector<HeldOut<LightGbmDataset>> scored = ScoredSets(training, unseen, reserved);
  return std::unique_ptr<HoldOutLearner>(new HoldOutLearner(
      training.constraints, unseen.constraints, options,
      BoostedLearner::LightGbm(training.dataset, training.objective, options, scored)));
}

std::unique_ptr<HoldOutLearner> HoldOutLearner::Xgboost(
    const ConstrainedRows<XgboostDataset>& training, const ConstrainedRows<XgboostDataset>& unseen,
    const BoostedOptions& options, const XgboostDataset* reserved) {
  const std::vector<HeldOut<XgboostDataset>> scored = ScoredSets(training, unseen, reserved);
  return std::unique_ptr<HoldOutLearner>(new HoldOutLearner(
      training.constraints, unseen.constraints, options,
      BoostedLearner::Xgboost(training.dataset, training.objective, options, scored)));
}

std::span<const double> HoldOutLearner::scores() const {
  return learner_->HeldOutScores(kUnseenSet);
}

double HoldOutLearner::objective() const {
  return learner_->EvaluateHeldOut(kUnseenSet, detail::NoConstraints()).objective;
}

LearnerValues HoldOutLearner::Evaluate(const ConstraintSet& constraints) const {
  if (&constraints == &training_ && &training_ != &unseen_) {
    throw std::invalid_argument(
        "constraints: those of the training rows; allowed: constraints on the unseen rows");
  }
  return learner_->EvaluateHeldOut(kUnseenSet, constraints);
}

const ConstraintSet* HoldOutLearner::OnTrainingRows(const ConstraintSet* constraints) const {
  if (constraints == nullptr || constraints->size() == 0) return nullptr;
  if (constraints == &unseen_ || constraints == &training_) return &training_;
  throw std::invalid_argument(
      "constraints: not those that the learner was made with; allowed: its unseen() or training()");
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
