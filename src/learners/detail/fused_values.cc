#include "learners/detail/fused_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "detail/parallel.h"
#include "learners/detail/binary_pass.h"
#include "learners/detail/cell_charges.h"
#include "learners/detail/softmax_pass.h"

namespace bregboost::detail {
namespace {

// What a pass leaves of a cell.
struct CellSums {
  double label_loss = 0.0;  // missing the label
  double other_loss = 0.0;  // missing the baseline; of two classes: the one that is not the label
  std::vector<double> predicted;  // weight of the rows by predicted class; NaN if a score is
};

std::vector<CellSums> SumBinary(const PassCells& cells, bool label_losses_only,
                                const double* weights, const ScoreView& scores) {
  const BinaryRows rows{.scores = scores.data, .cells = cells.ids()};
  const bool own_only = label_losses_only && weights == nullptr;
  std::vector<MissSums> partial(NumChunks(scores.num_rows) * cells.size());
  ForEachChunk(scores.num_rows, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    const std::span<MissSums> sums(partial.data() + chunk * cells.size(), cells.size());
    if (own_only) {
      AccumulateOwnMisses(rows, cells.first_of_label_1(), begin, end, sums);
    } else {
      AccumulateMisses(rows, weights, begin, end, sums);
    }
  });
  std::vector<CellSums> total(cells.size(), {.predicted = {0.0, 0.0}});
  for (std::size_t j = 0; j < partial.size(); ++j) {
    const std::size_t cell = j % cells.size();
    const auto label = static_cast<std::size_t>(cells.labels()[cell]);
    total[cell].label_loss += partial[j].miss[label];
    total[cell].other_loss += partial[j].miss[1 - label];
    for (std::size_t k = 0; k < 2; ++k) total[cell].predicted[k] += partial[j].predicted[k];
  }
  for (std::size_t c = 0; c < cells.size() && own_only; ++c) {
    const auto num_rows = static_cast<double>(cells.table().cells[c].rows);
    total[c].predicted[0] = num_rows - total[c].predicted[1];
  }
  return total;
}

std::vector<CellSums> SumSoftmax(const PassCells& cells, bool label_losses_only,
                                 const double* weights, const ScoreView& scores) {
  const std::size_t num_sums = NumSoftmaxSums(scores.num_scores);
  const std::size_t size = cells.size() * num_sums;
  const SoftmaxRows rows{.scores = &scores, .cells = cells.ids()};
  SoftmaxTargets targets{.labels = cells.labels(), .baselines = {}};
  if (!label_losses_only) targets.baselines = cells.baselines();
  std::vector<double> partial(NumChunks(scores.num_rows) * size, 0.0);
  ForEachChunk(scores.num_rows, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    AccumulateSoftmax(rows, targets, weights, begin, end, {partial.data() + chunk * size, size});
  });
  for (std::size_t j = size; j < partial.size(); ++j) partial[j % size] += partial[j];
  std::vector<CellSums> total(cells.size());
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const double* sums = partial.data() + c * num_sums;
    total[c] = {.label_loss = sums[kSumOfLabelLoss],
                .other_loss = sums[kSumOfBaselineLoss],
                .predicted = std::vector<double>(sums + kFirstPredictedSum, sums + num_sums)};
  }
  return total;
}

std::vector<CellSums> SumRows(const PassCells& cells, bool label_losses_only,
                              const std::vector<double>& weights, const ScoreView& scores) {
  const double* data = weights.empty() ? nullptr : weights.data();
  const auto sum_up = scores.num_scores == 1 ? SumBinary : SumSoftmax;
  return sum_up(cells, label_losses_only, data, scores);
}

// The weight of the rows of a cell for which the slot's 0-1 event happens.
double ExactSum(const Slot& slot, const Cell& cell, const std::vector<double>& predicted) {
  const double all = std::accumulate(predicted.begin(), predicted.end(), 0.0);
  if (std::isnan(all)) return all;
  if (slot.kind == SlotKind::kSelected) return predicted[static_cast<std::size_t>(slot.class_code)];
  const auto target = static_cast<std::size_t>(TargetOf(slot, cell));
  double missed = 0.0;
  for (std::size_t k = 0; k < predicted.size(); ++k) missed += k == target ? 0.0 : predicted[k];
  return missed;
}

ConstraintValues ValuesOf(const RateConstraints& constraints, const std::vector<CellSums>& sums) {
  const CompiledConstraints& compiled = constraints.compiled();
  const double units = UnitsPerNat(constraints.surrogate());
  std::vector<double> exact(compiled.num_sums(), 0.0), surrogate(compiled.num_sums(), 0.0);
  for (std::size_t column = 0; column < compiled.num_sums(); ++column) {
    const std::size_t s = column % compiled.slots.size();
    const std::size_t c = column / compiled.slots.size();
    const Slot& slot = compiled.slots[s];
    const Cell& cell = compiled.cells.cells[c];
    const bool of_label = TargetOf(slot, cell) == cell.label;
    const double loss = of_label ? sums[c].label_loss : sums[c].other_loss;
    const bool used = constraints.used_slots()[s];
    if (slot.kind == SlotKind::kLoss) {
      exact[column] = surrogate[column] = used ? loss : 0.0;
    } else {
      exact[column] = ExactSum(slot, cell, sums[c].predicted);
      surrogate[column] = used ? units * loss : 0.0;
    }
  }
  return constraints.ValuesOf(exact, surrogate);
}

double ObjectiveOf(const Objective& objective, const PassCells& cells,
                   const std::vector<CellSums>& sums) {
  const std::vector<double> coefficients = objective.LossCoefficients();
  double total = 0.0;
  for (std::size_t c = 0; c < sums.size(); ++c) {
    total += coefficients[static_cast<std::size_t>(cells.labels()[c])] * sums[c].label_loss;
  }
  return total;
}

}  // namespace

LearnerValues FusedValues(const Objective& objective, const RateConstraints& constraints,
                          const ConstraintPlan& plan, const ScoreView& scores) {
  const RowData& rows = objective.rows();
  const bool alike = rows.rate_weights.empty();
  const std::vector<CellSums> sums = SumRows(plan.cells(), plan.charges_own_misses_only(),
                                             alike ? rows.weights : rows.rate_weights, scores);
  return {.objective = alike ? ObjectiveOf(objective, plan.cells(), sums)
                             : FusedObjective(objective, plan.cells(), scores),
          .constraints = ValuesOf(constraints, sums)};
}

double FusedObjective(const Objective& objective, const PassCells& cells, const ScoreView& scores) {
  return ObjectiveOf(objective, cells,
                     SumRows(cells, /*label_losses_only=*/true, objective.rows().weights, scores));
}

}  // namespace bregboost::detail
