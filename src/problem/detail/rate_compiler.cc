#include "problem/detail/rate_compiler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>

#include "bregboost/problem/constraint_error.h"
#include "bregboost/problem/parser.h"

namespace bregboost::detail {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

std::vector<Slot> SlotsOf(const RowData& rows, const CellTable& cells) {
  if (rows.task() == Task::kRegression) return {{.kind = SlotKind::kLoss}};
  if (rows.task() == Task::kBinary) {
    return {{.kind = SlotKind::kMissClass, .class_code = 0},
            {.kind = SlotKind::kMissClass, .class_code = 1},
            {.kind = SlotKind::kLoss}};
  }
  std::vector<Slot> slots = {{.kind = SlotKind::kMissLabel}, {.kind = SlotKind::kLoss}};
  if (!cells.cells.empty() && cells.cells.front().baseline >= 0) {
    slots.push_back({.kind = SlotKind::kMissBaseline});
  }
  for (std::size_t k = 0; k < rows.labels.levels.size(); ++k) {
    slots.push_back({.kind = SlotKind::kSelected, .class_code = static_cast<std::int32_t>(k)});
  }
  return slots;
}

std::string Suggest(const std::string& value, const std::vector<std::string>& known) {
  const std::vector<std::string> nearest = NearestNames(value, known);
  const std::string hint =
      nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest.front());
  constexpr std::size_t kMost = 20;
  if (known.size() <= kMost) {
    return fmt::format("{} allowed: {}", hint.empty() ? ";" : hint, fmt::join(known, ", "));
  }
  const std::vector<std::string> first(known.begin(), known.begin() + kMost);
  return fmt::format("{} allowed: {}, ... ({} values)", hint.empty() ? ";" : hint,
                     fmt::join(first, ", "), known.size());
}

std::int32_t FindLevel(const std::vector<std::string>& levels, const std::string& value) {
  const auto found = std::find(levels.begin(), levels.end(), value);
  return found == levels.end() ? -1 : static_cast<std::int32_t>(found - levels.begin());
}

}  // namespace

std::string GroupText(const std::vector<Condition>& conditions) {
  std::vector<std::string> parts;
  for (const Condition& c : conditions) {
    parts.push_back(fmt::format("{}={}", c.column.is_label ? "class" : c.column.name, c.value));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void AddScaled(const SparseRow& other, double factor, SparseRow& row) {
  std::vector<std::pair<std::uint32_t, double>> merged;
  merged.reserve(row.entries.size() + other.entries.size());
  auto a = row.entries.cbegin();
  auto b = other.entries.cbegin();
  while (a != row.entries.cend() || b != other.entries.cend()) {
    if (b == other.entries.cend() || (a != row.entries.cend() && a->first < b->first)) {
      merged.push_back(*a++);
    } else if (a == row.entries.cend() || b->first < a->first) {
      merged.emplace_back(b->first, factor * b->second);
      ++b;
    } else {
      merged.emplace_back(a->first, a->second + factor * b->second);
      ++a;
      ++b;
    }
  }
  std::erase_if(merged, [](const auto& entry) { return entry.second == 0.0; });
  row.entries = std::move(merged);
  row.constant += factor * other.constant;
}

RateCompiler::RateCompiler(const RowData& rows, const CellTable& cells, EmptySubsetPolicy policy)
    : rows_(rows), cells_(cells), policy_(policy), slots_(SlotsOf(rows, cells)) {}

std::int32_t RateCompiler::ClassCode(const std::string& value, const std::string& text) const {
  const std::int32_t code = FindLevel(rows_.labels.levels, value);
  if (code >= 0) return code;
  throw ConstraintError(ConstraintErrorCode::kUnknownClass,
                        fmt::format("class '{}' does not occur in the labels{}", value,
                                    Suggest(value, rows_.labels.levels)),
                        text);
}

std::int32_t RateCompiler::PredictedClass(const Rate& rate, const std::string& text) const {
  if (rate.predicted) return ClassCode(*rate.predicted, text);
  if (rows_.task() == Task::kBinary) return rows_.positive_class;
  throw ConstraintError(
      ConstraintErrorCode::kNeedsPredictedClass,
      fmt::format("{} on {} classes needs predicted=CLASS; allowed: {}", Name(rate.kind),
                  rows_.labels.levels.size(), fmt::join(rows_.labels.levels, ", ")),
      text);
}

std::string RateCompiler::PositiveLabel() const {
  return rows_.labels.levels[static_cast<std::size_t>(rows_.positive_class)];
}

std::string RateCompiler::NegativeLabel() const {
  return rows_.labels.levels[static_cast<std::size_t>(1 - rows_.positive_class)];
}

void RateCompiler::RequireClassification(const Rate& rate, const std::string& text) const {
  if (rows_.task() != Task::kRegression) return;
  throw ConstraintError(
      ConstraintErrorCode::kNeedsClassification,
      fmt::format("{} needs class labels, the target is numeric; allowed: loss", Name(rate.kind)),
      text);
}

void RateCompiler::RequireBinary(const Rate& rate, const std::string& text) const {
  if (rows_.task() == Task::kBinary) return;
  throw ConstraintError(
      ConstraintErrorCode::kNeedsBinary,
      fmt::format("{} needs two classes, the labels have {}; allowed: error(class=...), "
                  "recall(class=...), selection_rate(predicted=...)",
                  Name(rate.kind), rows_.labels.levels.size()),
      text);
}

RateCompiler::Subset RateCompiler::Select(std::vector<Condition> where,
                                          const std::vector<Condition>& extra,
                                          const std::string& text) const {
  where.insert(where.end(), extra.begin(), extra.end());
  // Which part of a cell's tuple must equal which code; part -1 is the label.
  std::vector<std::pair<std::ptrdiff_t, std::int32_t>> wanted;
  for (const Condition& condition : where) {
    if (condition.column.is_label) {
      wanted.emplace_back(-1, ClassCode(condition.value, text));
      continue;
    }
    const std::string& name = condition.column.name;
    const CategoricalColumn& column = *FindGroup(rows_, name);
    const std::int32_t code = FindLevel(column.levels, condition.value);
    if (code < 0) {
      throw ConstraintError(
          ConstraintErrorCode::kUnknownGroup,
          fmt::format("value '{}' does not occur in group column '{}'{}", condition.value, name,
                      Suggest(condition.value, column.levels)),
          text);
    }
    const auto part = std::find(cells_.group_columns.begin(), cells_.group_columns.end(), name);
    wanted.emplace_back(part - cells_.group_columns.begin(), code);
  }
  Subset subset;
  for (std::uint32_t c = 0; c < cells_.cells.size(); ++c) {
    const Cell& cell = cells_.cells[c];
    const bool inside = std::all_of(wanted.begin(), wanted.end(), [&](const auto& part_and_code) {
      const auto [part, code] = part_and_code;
      return (part < 0 ? cell.label : cell.groups[static_cast<std::size_t>(part)]) == code;
    });
    if (!inside) continue;
    subset.cells.push_back(c);
    subset.weight += cell.rate_weight;
  }
  if (subset.weight <= 0.0 && policy_ == EmptySubsetPolicy::kError) {
    throw ConstraintError(
        ConstraintErrorCode::kEmptySubset,
        fmt::format("no rows with {} (or their weights are all 0); allowed: at least one row",
                    where.empty() ? "any value" : GroupText(where)),
        text);
  }
  return subset;
}

std::uint32_t RateCompiler::ColumnOf(Event event, std::int32_t class_code,
                                     std::uint32_t cell) const {
  const Cell& tuple = cells_.cells[cell];
  Slot slot;
  if (event == Event::kLoss) {
    slot = {.kind = SlotKind::kLoss};
  } else if (rows_.task() == Task::kBinary) {
    // Each event is a miss of one class: selecting k is missing the other.
    const std::int32_t missed = event == Event::kError       ? tuple.label
                                : event == Event::kDisagrees ? tuple.baseline
                                                             : 1 - class_code;
    slot = {.kind = SlotKind::kMissClass, .class_code = missed};
  } else if (event == Event::kSelected) {
    slot = {.kind = SlotKind::kSelected, .class_code = class_code};
  } else {
    slot = {.kind = event == Event::kError ? SlotKind::kMissLabel : SlotKind::kMissBaseline};
  }
  const auto index = std::find(slots_.begin(), slots_.end(), slot) - slots_.begin();
  return cell * static_cast<std::uint32_t>(slots_.size()) + static_cast<std::uint32_t>(index);
}

SparseRow RateCompiler::Average(Event event, std::int32_t class_code, const Subset& subset) const {
  SparseRow row;
  if (subset.weight <= 0.0) {
    row.constant = kUndefined;
    return row;
  }
  for (const std::uint32_t cell : subset.cells) {
    row.entries.emplace_back(ColumnOf(event, class_code, cell), 1.0 / subset.weight);
  }
  return row;
}

SparseRow RateCompiler::Compile(const Rate& rate, const std::vector<Condition>& extra,
                                const std::string& text) {
  if (rate.kind != RateKind::kLoss) RequireClassification(rate, text);
  const auto complement = [](const SparseRow& row) {
    SparseRow result{.entries = {}, .constant = 1.0};
    AddScaled(row, -1.0, result);
    return result;
  };
  const auto error_of = [&](const std::string& label) {
    std::vector<Condition> where = rate.where;
    where.push_back({.column = Column::Label(), .value = label});
    return Average(Event::kError, -1, Select(std::move(where), extra, text));
  };
  const auto subset = [&] { return Select(rate.where, extra, text); };
  switch (rate.kind) {
    case RateKind::kError:
      return Average(Event::kError, -1, subset());
    case RateKind::kAccuracy:
      return complement(Average(Event::kError, -1, subset()));
    case RateKind::kLoss:
      return Average(Event::kLoss, -1, subset());
    case RateKind::kDisagreement:
      if (rows_.baseline.empty()) {
        throw ConstraintError(ConstraintErrorCode::kNeedsBaseline,
                              "disagreement needs the predictions of a baseline model; none given",
                              text);
      }
      return Average(Event::kDisagrees, -1, subset());
    case RateKind::kSelectionRate:
      return Average(Event::kSelected, PredictedClass(rate, text), subset());
    case RateKind::kBalancedError: {
      SparseRow row;
      const double share = 1.0 / static_cast<double>(rows_.labels.levels.size());
      for (const std::string& label : rows_.labels.levels) AddScaled(error_of(label), share, row);
      return row;
    }
    case RateKind::kRecall: {
      const auto by_class = [](const std::vector<Condition>& conditions) {
        return std::any_of(conditions.begin(), conditions.end(),
                           [](const Condition& c) { return c.column.is_label; });
      };
      if (by_class(rate.where) || by_class(extra)) {
        return complement(Average(Event::kError, -1, subset()));
      }
      RequireBinary(rate, text);
      return complement(error_of(PositiveLabel()));
    }
    case RateKind::kFnr:
      RequireBinary(rate, text);
      return error_of(PositiveLabel());
    case RateKind::kFpr:
      RequireBinary(rate, text);
      return error_of(NegativeLabel());
    case RateKind::kTpr:
      RequireBinary(rate, text);
      return complement(error_of(PositiveLabel()));
    case RateKind::kTnr:
      RequireBinary(rate, text);
      return complement(error_of(NegativeLabel()));
    case RateKind::kPrecision:
      break;
  }
  throw std::logic_error("precision is a ratio, which stands alone");
}

SparseRow RateCompiler::Compile(const RateExpression& expression,
                                const std::vector<Condition>& extra, const std::string& text) {
  SparseRow row{.entries = {}, .constant = expression.constant};
  for (const Term& term : expression.terms) {
    AddScaled(Compile(term.rate, extra, text), term.coefficient, row);
  }
  return row;
}

MeasuredRate RateCompiler::CompilePrecision(const Rate& rate, const std::vector<Condition>& extra,
                                            const std::string& text) {
  RequireClassification(rate, text);
  MeasuredRate measured;
  const std::int32_t selected = PredictedClass(rate, text);
  const Subset subset = Select(rate.where, extra, text);
  if (subset.weight <= 0.0) measured.value.constant = kUndefined;
  for (const std::uint32_t cell : subset.cells) {
    const std::uint32_t column = ColumnOf(Event::kSelected, selected, cell);
    measured.denominator.entries.emplace_back(column, 1.0);
    if (cells_.cells[cell].label == selected) measured.value.entries.emplace_back(column, 1.0);
  }
  return measured;
}

// p (TP + FP) - TP <= 0 with TP = P - FN reads p FP + (1 - p) FN <= (1 - p) P: only errors and
// false selections, with non-negative coefficients.
SparseRow RateCompiler::PrecisionFloor(const Rate& rate, double floor,
                                       const std::vector<Condition>& extra,
                                       const std::string& text) {
  const std::int32_t selected = PredictedClass(rate, text);
  const Subset subset = Select(rate.where, extra, text);
  SparseRow row;
  if (subset.weight <= 0.0) {
    row.constant = kUndefined;
    return row;
  }
  for (const std::uint32_t cell : subset.cells) {
    if (cells_.cells[cell].label == selected) {
      row.entries.emplace_back(ColumnOf(Event::kError, -1, cell), (1.0 - floor) / subset.weight);
      row.constant -= (1.0 - floor) * cells_.cells[cell].rate_weight / subset.weight;
    } else {
      row.entries.emplace_back(ColumnOf(Event::kSelected, selected, cell), floor / subset.weight);
    }
  }
  std::sort(row.entries.begin(), row.entries.end());
  return row;
}

std::vector<std::vector<Condition>> RateCompiler::Groups(const std::vector<Column>& by) const {
  std::vector<std::size_t> parts;  // position of each group column in a cell's tuple
  for (const Column& column : by) {
    const auto part =
        std::find(cells_.group_columns.begin(), cells_.group_columns.end(), column.name);
    parts.push_back(static_cast<std::size_t>(part - cells_.group_columns.begin()));
  }
  std::set<std::vector<std::int32_t>> tuples;
  for (const Cell& cell : cells_.cells) {
    std::vector<std::int32_t> tuple;
    for (std::size_t b = 0; b < by.size(); ++b) {
      tuple.push_back(by[b].is_label ? cell.label : cell.groups[parts[b]]);
    }
    tuples.insert(std::move(tuple));
  }
  std::vector<std::vector<Condition>> groups;
  for (const std::vector<std::int32_t>& tuple : tuples) {
    std::vector<Condition> conditions;
    for (std::size_t b = 0; b < by.size(); ++b) {
      const std::vector<std::string>& levels =
          by[b].is_label ? rows_.labels.levels : FindGroup(rows_, by[b].name)->levels;
      conditions.push_back({.column = by[b], .value = levels[static_cast<std::size_t>(tuple[b])]});
    }
    groups.push_back(std::move(conditions));
  }
  return groups;
}

}  // namespace bregboost::detail
