#include "bregboost/data/column_encoding.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "data/detail/place.h"

namespace bregboost {
namespace {

// Which columns of a table are no features.
class NoFeatures {
 public:
  explicit NoFeatures(const RowColumns& columns)
      : names_{columns.label, columns.target, columns.weight, columns.rate_weight} {
    if (!columns.group_features) names_.insert(columns.groups.begin(), columns.groups.end());
  }

  bool Contain(const std::string& name) const { return names_.contains(name); }

 private:
  std::unordered_set<std::string> names_;
};

void CheckDistinct(const std::string& field, const std::vector<std::string>& values) {
  std::unordered_set<std::string_view> seen;
  for (const std::string& value : values) {
    if (seen.insert(value).second) continue;
    throw std::invalid_argument(
        fmt::format("{}: {} occurs twice; allowed: distinct texts", field, detail::Quoted(value)));
  }
}

void CheckFeature(const FeatureEncoding& feature, std::size_t index) {
  const std::string field = fmt::format("features[{}]", index);
  if (feature.name.empty()) {
    throw std::invalid_argument(field + ".name: empty; allowed: a column's name");
  }
  if (feature.kind == ColumnKind::kNumeric && !feature.levels.empty()) {
    throw std::invalid_argument(fmt::format("{}.levels: {} of a numeric column; allowed: none",
                                            field, feature.levels.size()));
  }
  CheckDistinct(field + ".levels", feature.levels);
}

}  // namespace

ColumnEncoding MakeEncoding(const Table& table, const RowColumns& columns,
                            const std::vector<std::string>& missing) {
  ColumnEncoding encoding;
  encoding.missing = missing;
  const NoFeatures no_features(columns);
  for (const TableColumn& column : table.columns) {
    if (no_features.Contain(column.name)) continue;
    encoding.features.push_back(
        {.name = column.name, .kind = column.kind, .levels = column.levels});
  }
  if (encoding.features.empty()) {
    throw std::invalid_argument(
        fmt::format("'{}': no column is a feature; allowed: at least one", table.source));
  }
  encoding.label = columns.label.empty() ? columns.target : columns.label;
  if (!columns.label.empty()) encoding.classes = ColumnOf(table, columns.label).levels;
  return encoding;
}

ColumnEncoding MakeEncoding(const SparseTable& table) {
  ColumnEncoding encoding;
  encoding.sparse_columns = table.num_columns;
  if (encoding.sparse_columns == 0) {
    throw std::invalid_argument(
        fmt::format("'{}': no row has an entry; allowed: at least one index:value", table.source));
  }
  encoding.label = table.label.name;
  encoding.classes = table.label.levels;
  return encoding;
}

TableOptions ReadingOptions(const ColumnEncoding& encoding, const RowColumns& columns) {
  TableOptions options;
  options.missing = encoding.missing;
  for (const FeatureEncoding& feature : encoding.features) {
    options.only.push_back(feature.name);
    (feature.kind == ColumnKind::kNumeric ? options.numeric : options.categorical)
        .push_back(feature.name);
  }
  options = WithRowColumns(std::move(options), columns);
  for (const auto& names :
       {columns.groups, std::vector<std::string>{columns.label, columns.target, columns.weight,
                                                 columns.rate_weight}}) {
    std::copy_if(names.begin(), names.end(), std::back_inserter(options.only),
                 [](const std::string& name) { return !name.empty(); });
  }
  return options;
}

LibsvmOptions LibsvmReadingOptions(const ColumnEncoding& encoding) {
  return {.label = encoding.classes.empty() ? ColumnKind::kNumeric : ColumnKind::kCategorical,
          .num_columns = encoding.sparse_columns};
}

void Validate(const ColumnEncoding& encoding) {
  if (encoding.features.empty() == (encoding.sparse_columns == 0)) {
    throw std::invalid_argument(
        fmt::format("features, sparse_columns: {} and {}; allowed: one of them above 0",
                    encoding.features.size(), encoding.sparse_columns));
  }
  if (encoding.sparse_columns > static_cast<std::size_t>(kMaxLibsvmIndex) + 1) {
    throw std::invalid_argument(fmt::format("sparse_columns: {}; allowed: at most {}",
                                            encoding.sparse_columns, kMaxLibsvmIndex + 1));
  }
  std::vector<std::string> names;
  for (std::size_t j = 0; j < encoding.features.size(); ++j) {
    CheckFeature(encoding.features[j], j);
    names.push_back(encoding.features[j].name);
  }
  CheckDistinct("features", names);
  CheckDistinct("classes", encoding.classes);
  if (encoding.classes.size() == 1) {
    throw std::invalid_argument("classes: 1; allowed: none for regression, else 2 or more");
  }
}

}  // namespace bregboost
