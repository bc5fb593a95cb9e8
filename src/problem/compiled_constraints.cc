#include "bregboost/problem/compiled_constraints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "bregboost/problem/constraint_error.h"
#include "bregboost/problem/parser.h"
#include "problem/detail/rate_compiler.h"

namespace bregboost {
namespace {

using detail::AddScaled;
using detail::RateCompiler;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sums of many weights carry rounding: a rate this near to its bound, or to 0, is there.
constexpr double kRounding = 1e-12;

void RequireColumn(const RowData& rows, const Column& column, const std::string& text) {
  if (column.is_label) {
    if (rows.task() != Task::kRegression) return;
    throw ConstraintError(
        ConstraintErrorCode::kNeedsClassification,
        "class= needs class labels, the target is numeric; allowed: group columns", text);
  }
  if (FindGroup(rows, column.name) != nullptr) return;
  std::vector<std::string> known;
  for (const CategoricalColumn& group : rows.groups) known.push_back(group.name);
  const std::vector<std::string> nearest = NearestNames(column.name, known);
  if (column.name == rows.labels.name && !column.name.empty()) {
    throw ConstraintError(
        ConstraintErrorCode::kUnknownColumn,
        fmt::format("'{}' is the label, not a group column; allowed: class=...", column.name),
        text);
  }
  throw ConstraintError(
      ConstraintErrorCode::kUnknownColumn,
      fmt::format("unknown group column '{}'{}; allowed: {}", column.name,
                  nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest.front()),
                  known.empty() ? "none, the data has no group columns"
                                : fmt::format("{}", fmt::join(known, ", "))),
      text);
}

// Which columns tell cells apart: those that some constraint names.
CellTable CellsFor(const std::vector<Constraint>& constraints, const RowData& rows) {
  std::set<std::string> names;
  bool with_baseline = false;
  for (const Constraint& constraint : constraints) {
    const std::string text = ToText(constraint);
    const auto add = [&](const Column& column) {
      RequireColumn(rows, column, text);
      if (!column.is_label) names.insert(column.name);
    };
    for (const Column& column : constraint.by) add(column);
    for (const Term& term : constraint.expression.terms) {
      for (const Condition& condition : term.rate.where) add(condition.column);
      if (term.rate.kind == RateKind::kDisagreement && !rows.baseline.empty()) with_baseline = true;
    }
  }
  return MakeCells(rows, {names.begin(), names.end()}, with_baseline);
}

bool IsPrecision(const Constraint& constraint) {
  return constraint.expression.terms.size() == 1 &&
         constraint.expression.terms.front().rate.kind == RateKind::kPrecision;
}

// Binary: S[miss 1] = weight - S[miss 0] in every cell, so rows that say the same of a model get
// the same entries.
SparseRow InMissesOfOneClass(const SparseRow& row, const CellTable& cells,
                             const std::vector<Slot>& slots) {
  SparseRow result{.entries = {}, .constant = row.constant};
  for (auto [column, coefficient] : row.entries) {
    if (slots[column % slots.size()] == Slot{.kind = SlotKind::kMissClass, .class_code = 1}) {
      result.constant += coefficient * cells.cells[column / slots.size()].rate_weight;
      coefficient = -coefficient;
      --column;  // the slot of class 0
    }
    if (!result.entries.empty() && result.entries.back().first == column) {
      result.entries.back().second += coefficient;
    } else {
      result.entries.emplace_back(column, coefficient);
    }
  }
  std::erase_if(result.entries, [](const auto& entry) { return entry.second == 0.0; });
  return result;
}

// A model-free conflict: a S <= upper and a S >= lower with lower > upper.
class ContradictionCheck {
 public:
  ContradictionCheck(const CellTable& cells, const std::vector<Slot>& slots)
      : cells_(cells), slots_(slots) {}

  void Add(const SparseRow& stated, const std::string& text) {
    const SparseRow row = InMissesOfOneClass(stated, cells_, slots_);
    const double bound = -row.constant;
    if (row.entries.empty() || std::isnan(bound)) return;
    double scale = 0.0, magnitude = std::abs(bound);  // of the terms, in the user's unit
    for (const auto& [column, coefficient] : row.entries) {
      scale = std::max(scale, std::abs(coefficient));
      magnitude += std::abs(coefficient) * cells_.cells[column / slots_.size()].rate_weight;
    }
    if (row.entries.front().second < 0.0) scale = -scale;
    Key key;
    for (const auto& [column, coefficient] : row.entries) {
      key.emplace_back(column, std::llround(coefficient / scale * 1e9));
    }
    Interval& interval = intervals_[key];
    if (scale > 0.0 && bound / scale < interval.upper) {
      interval.upper = bound / scale;
      interval.upper_text = text;
    }
    if (scale < 0.0 && bound / scale > interval.lower) {
      interval.lower = bound / scale;
      interval.lower_text = text;
    }
    if (interval.lower > interval.upper + 1e-9 * magnitude / std::abs(scale)) {
      const std::string& other =
          text == interval.upper_text ? interval.lower_text : interval.upper_text;
      throw ConstraintError(ConstraintErrorCode::kContradiction,
                            fmt::format("contradicts '{}': no model can hold both; allowed: bounds "
                                        "that leave an interval",
                                        other),
                            text);
    }
  }

 private:
  using Key = std::vector<std::pair<std::uint32_t, long long>>;
  struct Interval {
    double lower = -kInfinity, upper = kInfinity;
    std::string lower_text, upper_text;
  };
  const CellTable& cells_;
  const std::vector<Slot>& slots_;
  std::map<Key, Interval> intervals_;
};

// -1[predicted != 0] = 1[predicted != 1] - 1: a binary row whose coefficients are all negative is
// the same constraint with positive coefficients on the opposite events, which is convex.
SparseRow ComplementIfAllNegative(const SparseRow& row, const CellTable& cells,
                                  const std::vector<Slot>& slots) {
  const auto num_slots = static_cast<std::uint32_t>(slots.size());
  const bool applies = std::all_of(row.entries.begin(), row.entries.end(), [&](const auto& entry) {
    return entry.second < 0.0 && slots[entry.first % num_slots].kind == SlotKind::kMissClass;
  });
  if (!applies) return row;
  SparseRow flipped{.entries = {}, .constant = row.constant};
  for (const auto& [column, coefficient] : row.entries) {
    const std::uint32_t cell = column / num_slots;
    const std::uint32_t opposite = cell * num_slots + (1 - column % num_slots);
    flipped.entries.emplace_back(opposite, -coefficient);
    flipped.constant += coefficient * cells.cells[cell].rate_weight;
  }
  std::sort(flipped.entries.begin(), flipped.entries.end());
  return flipped;
}

class Compiler {
 public:
  Compiler(const std::vector<Constraint>& constraints, CellTable cells, const RowData& rows,
           EmptySubsetPolicy policy)
      : cells_(std::move(cells)),
        rates_(rows, cells_, policy),
        contradictions_(cells_, rates_.slots()) {
    result_.slots = rates_.slots();
    for (const Constraint& constraint : constraints) Add(constraint);
  }

  CompiledConstraints Finish() && {
    result_.cells = std::move(cells_);
    result_.matrix.resize(static_cast<Eigen::Index>(result_.bounds.size()),
                          static_cast<Eigen::Index>(result_.num_sums()));
    result_.matrix.setFromTriplets(triplets_.begin(), triplets_.end());
    return std::move(result_);
  }

 private:
  void Add(const Constraint& constraint) {
    text_ = ToText(constraint);
    CompiledConstraint compiled{
        .source = constraint, .rates = {}, .first_row = result_.bounds.size(), .num_rows = 0};
    std::vector<std::vector<Condition>> groups = {{}};
    if (constraint.aggregate != Aggregate::kNone) groups = rates_.Groups(constraint.by);
    CheckGroups(constraint, groups.size());
    for (const std::vector<Condition>& group : groups) {
      compiled.rates.push_back(Measured(constraint, group));
    }
    if (IsPrecision(constraint)) {
      const Rate& rate = constraint.expression.terms.front().rate;
      for (const std::vector<Condition>& group : groups) {
        AddRow(rates_.PrecisionFloor(rate, constraint.bound, group, text_), /*single_rate=*/false);
      }
    } else {
      AddRows(constraint, compiled.rates);
    }
    compiled.num_rows = result_.bounds.size() - compiled.first_row;
    result_.constraints.push_back(std::move(compiled));
  }

  // Every pair of groups is a limit of its own: a column of numbers would be millions of them.
  void CheckGroups(const Constraint& constraint, std::size_t groups) const {
    constexpr std::size_t kMost = 200;
    const bool compares =
        constraint.aggregate == Aggregate::kGap || constraint.aggregate == Aggregate::kRatio;
    if (!compares || (groups >= 2 && groups <= kMost)) return;
    if (groups < 2) {
      throw ConstraintError(
          ConstraintErrorCode::kTooFewGroups,
          fmt::format("the data has {} group(s) to compare; allowed: 2 or more", groups), text_);
    }
    throw ConstraintError(
        ConstraintErrorCode::kTooManyGroups,
        fmt::format("the data has {} groups to compare; allowed: at most {}. Is a column a number, "
                    "which should be cut into ranges?",
                    groups, kMost),
        text_);
  }

  MeasuredRate Measured(const Constraint& constraint, const std::vector<Condition>& group) {
    MeasuredRate measured;
    if (IsPrecision(constraint)) {
      measured = rates_.CompilePrecision(constraint.expression.terms.front().rate, group, text_);
    } else {
      measured.value = rates_.Compile(constraint.expression, group, text_);
    }
    measured.group = detail::GroupText(group);
    return measured;
  }

  void AddRows(const Constraint& constraint, const std::vector<MeasuredRate>& rates) {
    const double bound = constraint.bound;
    if (constraint.aggregate == Aggregate::kGap || constraint.aggregate == Aggregate::kRatio) {
      for (std::size_t a = 0; a < rates.size(); ++a) {
        for (std::size_t b = 0; b < rates.size(); ++b) {
          if (a == b) continue;
          SparseRow row;
          if (constraint.aggregate == Aggregate::kGap) {  // rate_a - rate_b <= bound
            AddScaled(rates[a].value, 1.0, row);
            AddScaled(rates[b].value, -1.0, row);
            row.constant -= bound;
          } else {  // bound * rate_a - rate_b <= 0
            AddScaled(rates[a].value, bound, row);
            AddScaled(rates[b].value, -1.0, row);
          }
          AddRow(row, /*single_rate=*/false);
        }
      }
      return;
    }
    const double sign = constraint.relation == Relation::kAtMost ? 1.0 : -1.0;
    for (const MeasuredRate& rate : rates) {
      SparseRow row;
      AddScaled(rate.value, sign, row);
      row.constant -= sign * bound;
      const std::vector<Term>& terms = constraint.expression.terms;
      AddRow(row, terms.size() == 1 && terms.front().rate.kind != RateKind::kLoss);
    }
  }

  void AddRow(const SparseRow& row, bool single_rate) {
    contradictions_.Add(row, text_);
    const SparseRow stored = ComplementIfAllNegative(row, cells_, result_.slots);
    const auto index = static_cast<int>(result_.bounds.size());
    for (const auto& [column, coefficient] : stored.entries) {
      triplets_.emplace_back(index, static_cast<int>(column), coefficient);
      const bool is_share =
          result_.slots[column % result_.slots.size()].kind == SlotKind::kSelected;
      single_rate = single_rate && coefficient >= 0.0 && !is_share;
    }
    result_.bounds.push_back(-stored.constant);
    result_.single_rate.push_back(single_rate && !stored.entries.empty());
  }

  CellTable cells_;
  RateCompiler rates_;                 // refers to cells_
  ContradictionCheck contradictions_;  // refers to both
  CompiledConstraints result_;
  std::vector<Eigen::Triplet<double>> triplets_;
  std::string text_;
};

// Constraints built in code pass through the grammar as well, so that its checks hold for them and
// the compiler sees the canonical form.
std::vector<Constraint> Canonical(const std::vector<Constraint>& constraints) {
  std::vector<Constraint> canonical;
  for (const Constraint& constraint : constraints) {
    canonical.push_back(ParseConstraint(ToText(constraint)));
  }
  return canonical;
}

double ValueOf(const MeasuredRate& rate, std::span<const double> sums) {
  if (rate.denominator.entries.empty()) return rate.value.Dot(sums);
  const double selected = rate.denominator.Dot(sums);
  if (selected <= 0.0) return std::numeric_limits<double>::quiet_NaN();  // nothing is selected
  return rate.value.Dot(sums) / selected;
}

double Combine(const Constraint& constraint, const std::vector<double>& values) {
  // NaN in any group makes the whole undefined; std::max would drop it.
  for (const double value : values) {
    if (std::isnan(value)) return value;
  }
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  switch (constraint.aggregate) {
    case Aggregate::kNone:
      return values.front();
    case Aggregate::kGap:
      return *high - *low;
    case Aggregate::kRatio:
      // 0 / 0 is undefined: no group is selected at all.
      return *high <= kRounding ? std::numeric_limits<double>::quiet_NaN() : *low / *high;
    case Aggregate::kMax:
      return *high;
    case Aggregate::kMin:
      return *low;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

double SparseRow::Dot(std::span<const double> sums) const {
  double total = constant;
  for (const auto& [column, coefficient] : entries) total += coefficient * sums[column];
  return total;
}

CompiledConstraints Compile(const std::vector<Constraint>& constraints, const RowData& rows,
                            EmptySubsetPolicy policy) {
  Validate(rows);
  const std::vector<Constraint> canonical = Canonical(constraints);
  return Compiler(canonical, CellsFor(canonical, rows), rows, policy).Finish();
}

CompiledConstraints WithBounds(const CompiledConstraints& compiled, std::span<const double> bounds,
                               const RowData& rows) {
  if (bounds.size() != compiled.constraints.size()) {
    throw std::invalid_argument(fmt::format("bounds: {} values; allowed: one for each of {}",
                                            bounds.size(), compiled.constraints.size()));
  }
  std::vector<Constraint> constraints;
  for (std::size_t c = 0; c < bounds.size(); ++c) {
    constraints.push_back(compiled.constraints[c].source);
    constraints.back().bound = bounds[c];
  }
  // Bounds name no columns, so the cells stay as they are; and where an empty subset was refused,
  // there is none.
  return Compiler(Canonical(constraints), compiled.cells, rows, EmptySubsetPolicy::kUndefined)
      .Finish();
}

double Value(const CompiledConstraint& constraint, std::span<const double> sums) {
  std::vector<double> values;
  values.reserve(constraint.rates.size());
  for (const MeasuredRate& rate : constraint.rates) values.push_back(ValueOf(rate, sums));
  return Combine(constraint.source, values);
}

double Violation(const Constraint& constraint, double value) {
  const double excess = constraint.relation == Relation::kAtMost ? value - constraint.bound
                                                                 : constraint.bound - value;
  if (std::isnan(excess)) return kInfinity;
  return excess <= kRounding ? 0.0 : excess;
}

Measurement Measure(const CompiledConstraint& constraint, std::span<const double> sums) {
  Measurement result;
  result.text = ToText(constraint.source);
  std::vector<double> values;
  for (const MeasuredRate& rate : constraint.rates) {
    values.push_back(ValueOf(rate, sums));
    if (!rate.group.empty()) result.groups.emplace_back(rate.group, values.back());
  }
  result.value = Combine(constraint.source, values);
  result.violation = Violation(constraint.source, result.value);
  result.satisfied = result.violation == 0.0;
  return result;
}

}  // namespace bregboost
