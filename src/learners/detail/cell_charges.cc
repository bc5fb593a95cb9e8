#include "learners/detail/cell_charges.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bregboost::detail {

void CellCharges::Add(std::size_t cell, std::int32_t target, double amount) {
  charge[cell * num_classes + static_cast<std::size_t>(target)] += amount;
  bend[cell] += std::max(0.0, amount);
}

void CellCharges::Add(const CellCharges& other) {
  for (std::size_t j = 0; j < charge.size(); ++j) charge[j] += other.charge[j];
  for (std::size_t c = 0; c < bend.size(); ++c) bend[c] += other.bend[c];
}

std::int32_t TargetOf(const Slot& slot, const Cell& cell) {
  switch (slot.kind) {
    case SlotKind::kMissClass:
      return slot.class_code;
    case SlotKind::kMissLabel:
    case SlotKind::kLoss:
      return cell.label;
    case SlotKind::kMissBaseline:
      return cell.baseline;
    case SlotKind::kSelected:
      break;
  }
  return -1;
}

double UnitsPerNat(const SurrogateOptions& options) {
  return options.kind == SurrogateKind::kLogisticBase2 ? std::numbers::log2e : 1.0;
}

bool UsesCrossEntropiesOnly(const RateConstraints& constraints) {
  const SurrogateOptions& options = constraints.surrogate();
  const bool is_cross_entropy =
      std::isinf(options.clip) && (options.kind == SurrogateKind::kCrossEntropy ||
                                   options.kind == SurrogateKind::kLogisticBase2);
  const std::vector<Slot>& slots = constraints.compiled().slots;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    if (!constraints.used_slots()[s] || slots[s].kind == SlotKind::kLoss) continue;
    if (slots[s].kind == SlotKind::kSelected || !is_cross_entropy) return false;
  }
  return true;
}

bool ChargesOwnMissesOnly(const RateConstraints& constraints) {
  const CompiledConstraints& compiled = constraints.compiled();
  using Matrix = decltype(compiled.matrix);
  for (Eigen::Index j = 0; j < compiled.matrix.outerSize(); ++j) {
    for (Matrix::InnerIterator entry(compiled.matrix, j); entry; ++entry) {
      const auto column = static_cast<std::size_t>(entry.col());
      const Cell& cell = compiled.cells.cells[column / compiled.slots.size()];
      if (TargetOf(compiled.slots[column % compiled.slots.size()], cell) != cell.label) {
        return false;
      }
    }
  }
  return true;
}

CellCharges ChargesOf(const RateConstraints& constraints, std::span<const double> coefficients,
                      double factor) {
  const CompiledConstraints& compiled = constraints.compiled();
  const std::size_t num_slots = compiled.slots.size();
  const double units = UnitsPerNat(constraints.surrogate());
  CellCharges charges(compiled.cells.cells.size(), constraints.rows().labels.levels.size());
  for (std::size_t j = 0; j < coefficients.size(); ++j) {
    if (coefficients[j] == 0.0) continue;
    const Slot& slot = compiled.slots[j % num_slots];
    const double scale = slot.kind == SlotKind::kLoss ? 1.0 : units;
    const std::size_t cell = j / num_slots;
    charges.Add(cell, TargetOf(slot, compiled.cells.cells[cell]), factor * scale * coefficients[j]);
  }
  return charges;
}

CellCharges ChargesOf(const Objective& objective, const CellTable& cells, double factor) {
  const std::vector<double> by_class = objective.LossCoefficients();
  CellCharges charges(cells.cells.size(), by_class.size());
  for (std::size_t c = 0; c < cells.cells.size(); ++c) {
    const std::int32_t label = cells.cells[c].label;
    charges.Add(c, label, factor * by_class[static_cast<std::size_t>(label)]);
  }
  return charges;
}

}  // namespace bregboost::detail
