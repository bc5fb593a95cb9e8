#include "bregboost/data/table_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "data/detail/place.h"
#include "problem/detail/text.h"

namespace bregboost {
namespace {

void CheckComplete(const std::string& source, const TableColumn& column) {
  if (column.first_missing_line == 0) return;
  throw std::invalid_argument(
      fmt::format("{}: missing; allowed here: a value in every row",
                  detail::Place(source, column.first_missing_line, column.name)));
}

void CheckKind(const std::string& source, const TableColumn& column, ColumnKind kind) {
  if (column.kind == kind) return;
  throw std::invalid_argument(fmt::format("'{}', column {}: read as {}; allowed here: {}", source,
                                          detail::Quoted(column.name), Name(column.kind),
                                          Name(kind)));
}

const std::vector<double>& NumbersOf(const std::string& source, const TableColumn& column) {
  CheckKind(source, column, ColumnKind::kNumeric);
  CheckComplete(source, column);
  return column.values;
}

CategoricalColumn CategoriesOf(const std::string& source, const TableColumn& column) {
  CheckKind(source, column, ColumnKind::kCategorical);
  CheckComplete(source, column);
  return {.name = column.name, .levels = column.levels, .codes = column.codes};
}

CategoricalColumn LabelsOf(const std::string& source, const TableColumn& column,
                           const std::vector<std::string>& classes) {
  CategoricalColumn labels = CategoriesOf(source, column);
  if (classes.empty()) return labels;
  std::unordered_map<std::string_view, std::int32_t> code_of;
  for (const std::string& name : classes) {
    code_of.emplace(name, static_cast<std::int32_t>(code_of.size()));
  }
  std::vector<std::int32_t> new_code;
  for (const std::string& level : labels.levels) {
    const auto found = code_of.find(level);
    if (found == code_of.end()) {
      throw std::invalid_argument(fmt::format("'{}', column {}: {}; allowed: {}", source,
                                              detail::Quoted(column.name), detail::Quoted(level),
                                              detail::Joined(classes)));
    }
    new_code.push_back(found->second);
  }
  for (std::int32_t& code : labels.codes) code = new_code[static_cast<std::size_t>(code)];
  labels.levels = classes;
  return labels;
}

void CheckOneTarget(const RowColumns& columns) {
  if (columns.label.empty() || columns.target.empty()) return;
  throw std::invalid_argument(fmt::format("label, target: '{}' and '{}'; allowed: one of them",
                                          columns.label, columns.target));
}

}  // namespace

TableOptions WithRowColumns(TableOptions options, const RowColumns& columns) {
  CheckOneTarget(columns);
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (!name.empty()) names.push_back(name);
  };
  add(options.categorical, columns.label);
  for (const std::string& group : columns.groups) add(options.categorical, group);
  add(options.numeric, columns.target);
  add(options.numeric, columns.weight);
  add(options.numeric, columns.rate_weight);
  return options;
}

RowData RowsOf(const Table& table, const RowColumns& columns,
               const std::vector<std::string>& classes) {
  CheckOneTarget(columns);
  RowData rows;
  const auto numbers = [&](const std::string& name) {
    return name.empty() ? std::vector<double>() : NumbersOf(table.source, ColumnOf(table, name));
  };
  rows.targets = numbers(columns.target);
  rows.weights = numbers(columns.weight);
  rows.rate_weights = numbers(columns.rate_weight);
  if (!columns.label.empty()) {
    rows.labels = LabelsOf(table.source, ColumnOf(table, columns.label), classes);
  }
  for (const std::string& group : columns.groups) {
    rows.groups.push_back(CategoriesOf(table.source, ColumnOf(table, group)));
  }
  return rows;
}

RowData RowsOf(const SparseTable& table, const std::vector<std::string>& classes) {
  RowData rows;
  if (table.label.kind == ColumnKind::kNumeric) {
    rows.targets = NumbersOf(table.source, table.label);
  } else {
    rows.labels = LabelsOf(table.source, table.label, classes);
  }
  return rows;
}

std::int32_t PositiveClass(const RowData& rows, const std::string& label) {
  const std::vector<std::string>& levels = rows.labels.levels;
  const auto found = std::find(levels.begin(), levels.end(), label);
  if (found != levels.end()) return static_cast<std::int32_t>(found - levels.begin());
  throw std::invalid_argument(fmt::format("positive: {} is not a label; allowed: {}",
                                          detail::Quoted(label), detail::Joined(levels)));
}

}  // namespace bregboost
