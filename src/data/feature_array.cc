#include "bregboost/data/feature_array.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "detail/hash.h"

namespace bregboost {
namespace {

template <class T>
FeatureArray Dense(std::span<const T> values, std::size_t rows, std::size_t columns,
                   FeatureArray::Layout layout) {
  FeatureArray features;
  features.layout = layout;
  features.is_float32 = sizeof(T) == sizeof(float);
  features.values = values.data();
  features.num_values = values.size();
  features.rows = rows;
  features.columns = columns;
  Validate(features);
  return features;
}

template <class T>
FeatureArray Sparse(std::span<const std::int64_t> row_offsets,
                    std::span<const std::int32_t> column_indices, std::span<const T> values,
                    std::size_t columns) {
  FeatureArray features;
  features.layout = FeatureArray::Layout::kCsr;
  features.is_float32 = sizeof(T) == sizeof(float);
  features.values = values.data();
  features.num_values = values.size();
  features.rows = row_offsets.empty() ? 0 : row_offsets.size() - 1;
  features.columns = columns;
  features.row_offsets = row_offsets;
  features.column_indices = column_indices;
  Validate(features);
  return features;
}

void ValidateCsr(const FeatureArray& features) {
  const auto fail = [](const std::string& message) { throw std::invalid_argument(message); };
  const auto entries = static_cast<std::int64_t>(features.num_values);
  if (features.row_offsets.size() != features.rows + 1) {
    fail(fmt::format("row_offsets: {} values; allowed: rows + 1 = {}", features.row_offsets.size(),
                     features.rows + 1));
  }
  if (features.column_indices.size() != features.num_values) {
    fail(fmt::format("column_indices: {} values; allowed: as many as values, {}",
                     features.column_indices.size(), features.num_values));
  }
  if (features.row_offsets.front() != 0 || features.row_offsets.back() != entries) {
    fail(fmt::format("row_offsets: from {} to {}; allowed: from 0 to the number of values, {}",
                     features.row_offsets.front(), features.row_offsets.back(), entries));
  }
  if (!std::is_sorted(features.row_offsets.begin(), features.row_offsets.end())) {
    fail("row_offsets: not in order; allowed: each at least the one before");
  }
  for (const std::int32_t column : features.column_indices) {
    if (column < 0 || static_cast<std::size_t>(column) >= features.columns) {
      fail(fmt::format("column_indices: {}; allowed: 0 to {}", column, features.columns - 1));
    }
  }
}

}  // namespace

FeatureArray FeatureArray::RowMajor(std::span<const float> values, std::size_t rows,
                                    std::size_t columns) {
  return Dense(values, rows, columns, Layout::kRowMajor);
}
FeatureArray FeatureArray::RowMajor(std::span<const double> values, std::size_t rows,
                                    std::size_t columns) {
  return Dense(values, rows, columns, Layout::kRowMajor);
}
FeatureArray FeatureArray::ColumnMajor(std::span<const float> values, std::size_t rows,
                                       std::size_t columns) {
  return Dense(values, rows, columns, Layout::kColumnMajor);
}
FeatureArray FeatureArray::ColumnMajor(std::span<const double> values, std::size_t rows,
                                       std::size_t columns) {
  return Dense(values, rows, columns, Layout::kColumnMajor);
}
FeatureArray FeatureArray::Csr(std::span<const std::int64_t> row_offsets,
                               std::span<const std::int32_t> column_indices,
                               std::span<const float> values, std::size_t columns) {
  return Sparse(row_offsets, column_indices, values, columns);
}
FeatureArray FeatureArray::Csr(std::span<const std::int64_t> row_offsets,
                               std::span<const std::int32_t> column_indices,
                               std::span<const double> values, std::size_t columns) {
  return Sparse(row_offsets, column_indices, values, columns);
}

void Validate(const FeatureArray& features) {
  if (features.rows == 0) throw std::invalid_argument("rows: 0; allowed: at least 1");
  if (features.columns == 0) throw std::invalid_argument("columns: 0; allowed: at least 1");
  if (features.layout == FeatureArray::Layout::kCsr) {
    ValidateCsr(features);
  } else if (features.num_values != features.rows * features.columns) {
    throw std::invalid_argument(fmt::format("values: {} numbers; allowed: {} rows x {} columns",
                                            features.num_values, features.rows, features.columns));
  }
  if (!features.names.empty() && features.names.size() != features.columns) {
    throw std::invalid_argument(fmt::format("names: {}; allowed: none, or one per column, {}",
                                            features.names.size(), features.columns));
  }
  const std::set<std::string> distinct(features.names.begin(), features.names.end());
  if (distinct.size() != features.names.size()) {
    throw std::invalid_argument("names: one occurs twice; allowed: distinct names");
  }
  for (const std::size_t column : features.categorical) {
    if (column >= features.columns) {
      throw std::invalid_argument(
          fmt::format("categorical: column {}; allowed: 0 to {}", column, features.columns - 1));
    }
  }
}

std::uint64_t Fingerprint(const FeatureArray& features) {
  using detail::AddToHash;
  std::uint64_t hash = detail::Mixed(features.rows);
  AddToHash(static_cast<std::uint64_t>(features.columns), hash);
  AddToHash(static_cast<std::uint64_t>(features.layout), hash);
  for (std::size_t i = 0; i < features.num_values; ++i) {
    AddToHash(features.is_float32
                  ? static_cast<double>(static_cast<const float*>(features.values)[i])
                  : static_cast<const double*>(features.values)[i],
              hash);
  }
  for (const std::int64_t offset : features.row_offsets) {
    AddToHash(static_cast<std::uint64_t>(offset), hash);
  }
  for (const std::int32_t column : features.column_indices) {
    AddToHash(static_cast<std::uint64_t>(column), hash);
  }
  for (const std::string& name : features.names) AddToHash(std::string_view(name), hash);
  for (const std::size_t column : features.categorical) {
    AddToHash(static_cast<std::uint64_t>(column), hash);
  }
  return hash;
}

}  // namespace bregboost
