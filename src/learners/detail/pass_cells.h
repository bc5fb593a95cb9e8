// Cells as the fused passes read them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bregboost/problem/cells.h"
#include "bregboost/problem/rate_constraints.h"
#include "learners/detail/fused_rows.h"

namespace bregboost::detail {

// A byte per row where the cells fit, label and baseline of each. Keeps a reference to the table.
class PassCells {
 public:
  explicit PassCells(const CellTable& table);

  const CellTable& table() const { return *table_; }
  std::size_t size() const { return labels_.size(); }
  CellIds ids() const;
  std::uint32_t first_of_label_1() const;  // cells come sorted by label
  std::span<const std::int32_t> labels() const { return labels_; }
  std::span<const std::int32_t> baselines() const { return baselines_; }  // empty: none

 private:
  const CellTable* table_;
  std::vector<std::uint8_t> bytes_;  // empty if there are too many cells
  std::vector<std::int32_t> labels_;
  std::vector<std::int32_t> baselines_;
};

// What is worth keeping of a set of constraints from round to round. It holds the set's compiled
// form, so that no later set can be taken for this one.
class ConstraintPlan {
 public:
  explicit ConstraintPlan(const RateConstraints& constraints);

  bool IsOf(const RateConstraints& constraints) const {
    return constraints.shared_compiled() == compiled_;
  }
  const CompiledConstraints& compiled() const { return *compiled_; }
  const PassCells& cells() const { return cells_; }
  bool charges_own_misses_only() const { return charges_own_misses_only_; }

 private:
  std::shared_ptr<const CompiledConstraints> compiled_;
  PassCells cells_;
  bool charges_own_misses_only_;
};

}  // namespace bregboost::detail
