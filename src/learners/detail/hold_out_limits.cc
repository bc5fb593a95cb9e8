#include "learners/detail/hold_out_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace bregboost::detail {
namespace {

bool SameGroups(const CompiledConstraint& a, const CompiledConstraint& b) {
  return std::equal(
      a.rates.begin(), a.rates.end(), b.rates.begin(), b.rates.end(),
      [](const MeasuredRate& of_a, const MeasuredRate& of_b) { return of_a.group == of_b.group; });
}

}  // namespace

void CheckSameRows(const Objective& objective, const RateConstraints& constraints,
                   const char* name) {
  if (&objective.rows() == &constraints.rows()) return;
  throw std::invalid_argument(fmt::format(
      "constraints of the {} rows: bound to other rows than the objective; allowed: the same "
      "RowData",
      name));
}

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
    if (!SameGroups(of_training[j], of_unseen[j])) {
      throw std::invalid_argument(
          fmt::format("constraints: '{}' compares groups that only one of the training and the "
                      "unseen rows has; allowed: the same groups in both",
                      ToText(of_training[j].source)));
    }
  }
}

const ConstraintSet* OnTrainingRows(const ConstraintSet* constraints,
                                    const RateConstraints& training,
                                    const RateConstraints& unseen) {
  if (constraints == nullptr || constraints->size() == 0) return nullptr;
  if (constraints == &unseen || constraints == &training) return &training;
  throw std::invalid_argument(
      "constraints: not those that the learner was made with; allowed: its unseen() or training()");
}

void CheckNotOfTraining(const ConstraintSet& constraints, const RateConstraints& training,
                        const RateConstraints& unseen) {
  if (&constraints != &training || &training == &unseen) return;
  throw std::invalid_argument(
      "constraints: those of the training rows; allowed: constraints on the unseen rows");
}

}  // namespace bregboost::detail
