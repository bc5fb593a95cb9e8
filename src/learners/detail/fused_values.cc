#include "learners/detail/fused_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "detail/parallel.h"
#include "learners/detail/binary_sums.h"
#include "learners/detail/cell_charges.h"
#include "learners/detail/softmax_pass.h"

namespace bregboost::detail {
namespace {

// What a pass leaves of the cells.
struct CellSums {
  CellSums(std::size_t cells, std::size_t classes)
      : num_classes(classes), label_loss(cells), other_loss(cells), predicted(cells * classes) {}

  std::size_t num_classes;
  std::vector<double> label_loss;  // of missing the label
  std::vector<double> other_loss;  // the baseline; of two classes: the one that is not the label
  std::vector<double> predicted;   // weight of the rows by predicted class; NaN if a score is
};

CellSums SumBinary(const PassCells& cells, bool label_losses_only, const double* weights,
                   const ScoreView& scores) {
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
  CellSums total(cells.size(), 2);
  for (std::size_t j = 0; j < partial.size(); ++j) {
    const std::size_t c = j % cells.size();
    const auto label = static_cast<std::size_t>(cells.labels()[c]);
    total.label_loss[c] += partial[j].miss[label];
    total.other_loss[c] += partial[j].miss[1 - label];
    for (std::size_t k = 0; k < 2; ++k) total.predicted[2 * c + k] += partial[j].predicted[k];
  }
  return total;
}

CellSums SumSoftmax(const PassCells& cells, bool label_losses_only, const double* weights,
                    const ScoreView& scores) {
  const std::size_t num_classes = scores.num_scores;
  const std::size_t num_sums = NumSoftmaxSums(num_classes);
  const std::size_t size = cells.size() * num_sums;
  const SoftmaxRows rows{.scores = &scores, .cells = cells.ids()};
  SoftmaxTargets targets{.labels = cells.labels(), .baselines = {}};
  if (!label_losses_only) targets.baselines = cells.baselines();
  std::vector<double> partial(NumChunks(scores.num_rows) * size, 0.0);
  ForEachChunk(scores.num_rows, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    AccumulateSoftmax(rows, targets, weights, begin, end, {partial.data() + chunk * size, size});
  });
  CellSums total(cells.size(), num_classes);
  for (std::size_t j = 0; j < partial.size(); j += num_sums) {
    const std::size_t c = j / num_sums % cells.size();
    total.label_loss[c] += partial[j + kSumOfLabelLoss];
    total.other_loss[c] += partial[j + kSumOfBaselineLoss];
    for (std::size_t k = 0; k < num_classes; ++k) {
      total.predicted[c * num_classes + k] += partial[j + kFirstPredictedSum + k];
    }
  }
  return total;
}

// One message to the workers.
void SumOverWorkers(const RowData& rows, CellSums& sums) {
  if (rows.workers == nullptr) return;
  const std::array parts = {&sums.label_loss, &sums.other_loss, &sums.predicted};
  std::vector<double> all;
  for (const auto* part : parts) all.insert(all.end(), part->begin(), part->end());
  rows.SumOverWorkers(all);
  auto from = all.begin();
  for (auto* part : parts) {
    std::copy_n(from, part->size(), part->begin());
    from += static_cast<std::ptrdiff_t>(part->size());
  }
}

CellSums SumRows(const RowData& rows, const PassCells& cells, bool label_losses_only,
                 const std::vector<double>& weights, const ScoreView& scores) {
  const double* data = weights.empty() ? nullptr : weights.data();
  const bool binary = scores.num_scores == 1;
  CellSums sums = (binary ? SumBinary : SumSoftmax)(cells, label_losses_only, data, scores);
  SumOverWorkers(rows, sums);
  // Own misses tell the rows that are predicted 1; the others are the rest of the cell.
  for (std::size_t c = 0; c < cells.size() && binary && label_losses_only && !data; ++c) {
    const auto num_rows = static_cast<double>(cells.table().cells[c].rows);
    sums.predicted[2 * c] = num_rows - sums.predicted[2 * c + 1];
  }
  return sums;
}

// The weight of the rows of a cell for which the slot's 0-1 event happens.
double ExactSum(const Slot& slot, const Cell& cell, std::span<const double> predicted) {
  if (slot.kind == SlotKind::kSelected) return predicted[static_cast<std::size_t>(slot.class_code)];
  const auto target = static_cast<std::size_t>(TargetOf(slot, cell));
  double missed = 0.0;
  for (std::size_t k = 0; k < predicted.size(); ++k) missed += k == target ? 0.0 : predicted[k];
  return missed;
}

ConstraintValues ValuesOf(const RateConstraints& constraints, const CellSums& sums) {
  const CompiledConstraints& compiled = constraints.compiled();
  const std::size_t num_slots = compiled.slots.size();
  const double units = UnitsPerNat(constraints.surrogate());
  std::vector<double> exact(compiled.num_sums(), 0.0), surrogate(compiled.num_sums(), 0.0);
  for (std::size_t c = 0; c < compiled.cells.cells.size(); ++c) {
    const Cell& cell = compiled.cells.cells[c];
    const std::span predicted(sums.predicted.data() + c * sums.num_classes, sums.num_classes);
    // One row without a prediction leaves no count of its cell standing.
    const double all = std::accumulate(predicted.begin(), predicted.end(), 0.0);
    for (std::size_t s = 0; s < num_slots; ++s) {
      const Slot& slot = compiled.slots[s];
      const bool is_loss = slot.kind == SlotKind::kLoss;
      const bool of_label = TargetOf(slot, cell) == cell.label;
      if (constraints.used_slots()[s]) {
        surrogate[c * num_slots + s] =
            (is_loss ? 1.0 : units) * (of_label ? sums.label_loss[c] : sums.other_loss[c]);
      }
      exact[c * num_slots + s] = is_loss           ? surrogate[c * num_slots + s]
                                 : std::isnan(all) ? all
                                                   : ExactSum(slot, cell, predicted);
    }
  }
  return constraints.ValuesOf(exact, surrogate);
}

double ObjectiveOf(const Objective& objective, const PassCells& cells, const CellSums& sums) {
  const std::vector<double> coefficients = objective.LossCoefficients();
  double total = 0.0;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    total += coefficients[static_cast<std::size_t>(cells.labels()[c])] * sums.label_loss[c];
  }
  return total;
}

}  // namespace

LearnerValues FusedValues(const Objective& objective, const RateConstraints& constraints,
                          const ConstraintPlan& plan, const ScoreView& scores) {
  const RowData& rows = objective.rows();
  const bool alike = rows.rate_weights.empty();
  const CellSums sums = SumRows(rows, plan.cells(), plan.charges_own_misses_only(),
                                alike ? rows.weights : rows.rate_weights, scores);
  return {.objective = alike ? ObjectiveOf(objective, plan.cells(), sums)
                             : FusedObjective(objective, plan.cells(), scores),
          .constraints = ValuesOf(constraints, sums)};
}

double FusedObjective(const Objective& objective, const PassCells& cells, const ScoreView& scores) {
  const RowData& rows = objective.rows();
  return ObjectiveOf(objective, cells,
                     SumRows(rows, cells, /*label_losses_only=*/true, rows.weights, scores));
}

}  // namespace bregboost::detail
