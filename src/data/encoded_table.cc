#include "bregboost/data/encoded_table.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "data/detail/column_names.h"
#include "data/detail/place.h"

namespace bregboost {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

class ColumnsByName {
 public:
  explicit ColumnsByName(Table& table) : source_(table.source) {
    for (TableColumn& column : table.columns) column_of_.emplace(column.name, &column);
  }

  TableColumn& Get(const std::string& name) const {
    const auto found = column_of_.find(name);
    if (found != column_of_.end()) return *found->second;
    std::vector<std::string> names;
    for (const auto& [known, column] : column_of_) names.emplace_back(known);
    throw std::invalid_argument(detail::NoColumn(source_, name, names));
  }

 private:
  const std::string& source_;
  std::unordered_map<std::string_view, TableColumn*> column_of_;
};

// The place of the first text of a column, as far as it is known.
std::string FirstTextOf(const std::string& source, const TableColumn& column) {
  if (column.first_text_line == 0) {
    return fmt::format("'{}', column {}: categories", source, detail::Quoted(column.name));
  }
  return fmt::format("{}: {}", detail::Place(source, column.first_text_line, column.name),
                     detail::Quoted(column.first_text));
}

void AppendNumbers(const std::string& source, const TableColumn& column,
                   std::vector<double>& values) {
  if (column.kind != ColumnKind::kNumeric) {
    throw std::invalid_argument(
        fmt::format("{}; allowed: numbers, as in the training rows", FirstTextOf(source, column)));
  }
  values.insert(values.end(), column.values.begin(), column.values.end());
}

UnseenCategories AppendCodes(const std::string& source, const TableColumn& column,
                             const FeatureEncoding& feature, std::vector<double>& values) {
  if (column.kind != ColumnKind::kCategorical) {
    throw std::invalid_argument(
        fmt::format("'{}', column {}: read as numbers; allowed: categories, as in the training "
                    "rows",
                    source, detail::Quoted(column.name)));
  }
  std::unordered_map<std::string_view, double> code_of;
  for (const std::string& level : feature.levels) {
    code_of.emplace(level, static_cast<double>(code_of.size()));
  }
  std::vector<double> new_code;
  UnseenCategories unseen{.column = column.name};
  for (const std::string& level : column.levels) {
    const auto found = code_of.find(level);
    new_code.push_back(found == code_of.end() ? kMissing : found->second);
    if (found == code_of.end() && unseen.example.empty()) unseen.example = level;
  }
  for (const std::int32_t code : column.codes) {
    const double value = code == kMissingCode ? kMissing : new_code[static_cast<std::size_t>(code)];
    if (code != kMissingCode && std::isnan(value)) ++unseen.rows;
    values.push_back(value);
  }
  return unseen;
}

}  // namespace

std::string UnseenCategories::text() const {
  return fmt::format(
      "column {}: {} row(s) with categories that the training rows do not have, "
      "such as {}, are taken as missing",
      detail::Quoted(column), rows, detail::Quoted(example));
}

EncodedTable Encode(Table table, const ColumnEncoding& encoding) {
  if (encoding.features.empty()) {
    throw std::invalid_argument(
        fmt::format("'{}': a table; allowed: LibSVM text, as the training rows", table.source));
  }
  const ColumnsByName columns(table);
  EncodedTable encoded;
  encoded.num_rows = table.num_rows;
  encoded.values.reserve(table.num_rows * encoding.features.size());
  for (const FeatureEncoding& feature : encoding.features) {
    TableColumn& column = columns.Get(feature.name);
    if (feature.kind == ColumnKind::kNumeric) {
      AppendNumbers(table.source, column, encoded.values);
    } else {
      encoded.categorical.push_back(encoded.names.size());
      UnseenCategories unseen = AppendCodes(table.source, column, feature, encoded.values);
      if (unseen.rows > 0) encoded.unseen.push_back(std::move(unseen));
    }
    encoded.names.push_back(feature.name);
    column.values = {};
    column.codes = {};
  }
  return encoded;
}

FeatureArray FeaturesOf(const EncodedTable& table) {
  FeatureArray features =
      FeatureArray::ColumnMajor(table.values, table.num_rows, table.names.size());
  features.names = table.names;
  features.categorical = table.categorical;
  return features;
}

FeatureArray FeaturesOf(const SparseTable& table) {
  FeatureArray features =
      FeatureArray::Csr(table.row_offsets, table.column_indices, table.values, table.num_columns);
  for (std::size_t j = 0; j < table.num_columns; ++j) features.names.push_back(fmt::to_string(j));
  return features;
}

void CheckForLinear(const Table& table, const ColumnEncoding& encoding) {
  for (const FeatureEncoding& feature : encoding.features) {
    const TableColumn& column = ColumnOf(table, feature.name);
    if (column.kind == ColumnKind::kCategorical) {
      throw std::invalid_argument(
          fmt::format("{}; allowed in a linear model: numbers", FirstTextOf(table.source, column)));
    }
    if (column.first_missing_line == 0) continue;
    throw std::invalid_argument(
        fmt::format("{}: missing; allowed in a linear model: a number in every row",
                    detail::Place(table.source, column.first_missing_line, column.name)));
  }
}

}  // namespace bregboost
