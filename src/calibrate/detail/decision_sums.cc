#include "calibrate/detail/decision_sums.h"

namespace bregboost::detail {
namespace {

bool UsesLosses(const RateProblem& problem) {
  const std::vector<Slot>& slots = problem.compiled().slots;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    if (slots[s].kind == SlotKind::kLoss && problem.rates().used_slots()[s]) return true;
  }
  return false;
}

}  // namespace

DecisionSums::DecisionSums(const RateProblem& problem, const BoundScores& bound, double temperature)
    : problem_(problem), losses_(problem.compiled().num_sums(), 0.0) {
  if (UsesLosses(problem)) TakeLosses(bound.Scaled(temperature));
}

DecisionSums::DecisionSums(const RateProblem& problem, std::span<const double> scores)
    : problem_(problem), losses_(problem.compiled().num_sums(), 0.0) {
  if (UsesLosses(problem)) TakeLosses(scores);
}

void DecisionSums::TakeLosses(std::span<const double> scores) {
  const std::vector<Slot>& slots = problem_.compiled().slots;
  const std::vector<double> sums = problem_.rates().ExactSums(scores);
  for (std::size_t column = 0; column < losses_.size(); ++column) {
    if (slots[column % slots.size()].kind == SlotKind::kLoss) losses_[column] = sums[column];
  }
}

std::vector<double> DecisionSums::Of(std::span<const double> predicted) const {
  const CompiledConstraints& compiled = problem_.compiled();
  const std::size_t slots = compiled.slots.size();
  const std::size_t classes = problem_.rows().labels.levels.size();
  std::vector<double> sums = losses_;
  for (std::size_t cell = 0; cell < compiled.cells.cells.size(); ++cell) {
    for (std::size_t s = 0; s < slots; ++s) {
      if (compiled.slots[s].kind == SlotKind::kLoss) continue;
      for (std::size_t k = 0; k < classes; ++k) {
        if (Happens(compiled.slots[s], compiled.cells.cells[cell], static_cast<std::int32_t>(k))) {
          sums[cell * slots + s] += predicted[cell * classes + k];
        }
      }
    }
  }
  return sums;
}

std::vector<double> DecisionSums::OfAll(std::size_t k) const {
  const std::vector<Cell>& cells = problem_.compiled().cells.cells;
  const std::size_t classes = problem_.rows().labels.levels.size();
  std::vector<double> predicted(cells.size() * classes, 0.0);
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    predicted[cell * classes + k] = cells[cell].rate_weight;
  }
  return Of(predicted);
}

}  // namespace bregboost::detail
