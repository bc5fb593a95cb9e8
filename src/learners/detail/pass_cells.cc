#include "learners/detail/pass_cells.h"

#include <algorithm>

#include "learners/detail/cell_charges.h"

namespace bregboost::detail {

PassCells::PassCells(const CellTable& table) : table_(&table) {
  constexpr std::size_t kCellsOfAByte = 256;
  for (const Cell& cell : table.cells) {
    labels_.push_back(cell.label);
    if (cell.baseline >= 0) baselines_.push_back(cell.baseline);
  }
  if (table.cells.size() <= kCellsOfAByte) {
    bytes_.resize(table.cell_of_row.size());
    std::transform(table.cell_of_row.begin(), table.cell_of_row.end(), bytes_.begin(),
                   [](std::uint32_t cell) { return static_cast<std::uint8_t>(cell); });
  }
}

CellIds PassCells::ids() const {
  if (bytes_.empty()) return table_->cell_of_row.data();
  return bytes_.data();
}

std::uint32_t PassCells::first_of_label_1() const {
  const auto first = std::find(labels_.begin(), labels_.end(), 1);
  return static_cast<std::uint32_t>(first - labels_.begin());
}

ConstraintPlan::ConstraintPlan(const RateConstraints& constraints)
    : compiled_(constraints.shared_compiled()),
      cells_(compiled_->cells),
      charges_own_misses_only_(ChargesOwnMissesOnly(constraints)) {}

}  // namespace bregboost::detail
