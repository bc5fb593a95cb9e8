#include "learners/detail/linear_steps.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <stdexcept>

#include "learners/detail/cost_losses.h"

namespace bregboost::detail {
namespace {

// A step that shall reach the optimum: the proximal term is there for its form only.
constexpr double kFarAway = 1e8;

// On the norm of the gradient. A finer optimum is lost in the noise of the rows.
constexpr double kResidual = 1e-6;

// Learners take the accuracy as a bound on psi - min psi, from the residual by psi's convexity.
SubproblemAccuracy AccuracyFor(double tau) {
  return {.delta = 0.0, .nu = 0.5 * tau * kResidual * kResidual};
}

void CheckCosts(std::span<const double> costs, const RowData& rows, const CellTable& cells) {
  if (rows.task() == Task::kRegression) {
    throw std::invalid_argument("costs: on a numeric target; allowed: class labels");
  }
  const std::size_t allowed = cells.cells.size() * rows.labels.levels.size();
  if (costs.size() != allowed) {
    throw std::invalid_argument(fmt::format(
        "costs: {} values; allowed: {}, one for each cell and class", costs.size(), allowed));
  }
  for (const double cost : costs) {
    if (cost >= 0.0 && std::isfinite(cost)) continue;
    throw std::invalid_argument(fmt::format("costs: {}; allowed: finite and at least 0", cost));
  }
}

}  // namespace

StepOutcome SolveStep(LinearLearner& learner, const ProximalStep& step,
                      const ConstraintSet* constraints) {
  ProximalStep solved = step;
  solved.constraints = constraints;
  if (constraints == nullptr) solved.multipliers = {};
  solved.accuracy = AccuracyFor(step.tau);
  return learner.Step(solved);
}

StepOutcome SolveOnCosts(LinearLearner& learner, const Objective& objective, const CellTable& cells,
                         std::span<const double> costs) {
  CheckCosts(costs, objective.rows(), cells);
  const CostLosses losses(objective, cells, costs);
  constexpr double kOne[] = {1.0};
  return learner.Step({.constraints = &losses,
                       .multipliers = kOne,
                       .objective_weight = 1.0,
                       .tau = kFarAway,
                       .anchor_weight = 0.0,
                       .modulus = std::nullopt,
                       .accuracy = AccuracyFor(kFarAway)});
}

}  // namespace bregboost::detail
