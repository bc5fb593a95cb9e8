// Constraints bound to rows. Every rate becomes a sparse linear function of per-cell event sums, so
// m constraints are g = A S - b with a small sparse matrix A, however many rows there are.
#pragma once

#include <Eigen/SparseCore>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bregboost/data/row_data.h"
#include "bregboost/problem/cells.h"
#include "bregboost/problem/constraint.h"

namespace bregboost {

// The events that are summed in each cell. Binary tasks use kMissClass for 0 and 1 (selecting one
// class is missing the other); K > 2 classes use the relative ones, which need no K columns.
enum class SlotKind {
  kMissClass,     // predicted != class_code
  kMissLabel,     // predicted != the cell's label
  kMissBaseline,  // predicted != the cell's baseline prediction
  kSelected,      // predicted == class_code
  kLoss,
};
struct Slot {
  SlotKind kind = SlotKind::kLoss;
  std::int32_t class_code = -1;

  bool operator==(const Slot&) const = default;
};

// constant + sum of coefficient * S[column]; column = cell * slots + slot. NaN constant: undefined.
struct SparseRow {
  std::vector<std::pair<std::uint32_t, double>> entries;  // sorted by column, no column twice
  double constant = 0.0;

  double Dot(std::span<const double> sums) const;
};

// One rate of a constraint, or of one of its groups.
struct MeasuredRate {
  std::string group;      // "sex=F, race=Other"; empty without groups
  SparseRow value;        // the rate; precision: its numerator
  SparseRow denominator;  // precision only
};

struct CompiledConstraint {
  Constraint source;
  std::vector<MeasuredRate> rates;
  std::size_t first_row = 0;  // its rows of A
  std::size_t num_rows = 0;
};

// A constraint's value as the user wrote it.
struct Measurement {
  std::string text;
  double value = 0.0;      // NaN where undefined
  double violation = 0.0;  // in the same unit; infinite where undefined
  bool satisfied = false;
  std::vector<std::pair<std::string, double>> groups;  // each group's rate
};

struct CompiledConstraints {
  CellTable cells;
  std::vector<Slot> slots;
  std::vector<CompiledConstraint> constraints;
  Eigen::SparseMatrix<double, Eigen::RowMajor> matrix;  // A
  std::vector<double> bounds;                           // b
  // Rows that bound one rate of misses from above, so that surrogate bound rules apply. Not the
  // share of K > 2 classes that is selected: its surrogate is a share as well, no loss.
  std::vector<bool> single_rate;

  std::size_t num_sums() const { return cells.cells.size() * slots.size(); }
};

enum class EmptySubsetPolicy {
  kError,      // training: a rate over no rows is refused
  kUndefined,  // evaluation: it is reported as undefined, never as satisfied
};

// Throws ConstraintError for anything in `constraints` that `rows` cannot answer.
CompiledConstraints Compile(const std::vector<Constraint>& constraints, const RowData& rows,
                            EmptySubsetPolicy policy = EmptySubsetPolicy::kError);

// The same constraints with other bounds, one for each: what Compile() would give, without another
// look at each row. `rows` are those of `compiled`. Throws ConstraintError for bounds that it would
// refuse, std::invalid_argument for a wrong number of them.
CompiledConstraints WithBounds(const CompiledConstraints& compiled, std::span<const double> bounds,
                               const RowData& rows);

// `sums` holds the exact event sums S.
Measurement Measure(const CompiledConstraint& constraint, std::span<const double> sums);
// The measurement's value and its violation alone.
double Value(const CompiledConstraint& constraint, std::span<const double> sums);
double Violation(const Constraint& constraint, double value);

}  // namespace bregboost
