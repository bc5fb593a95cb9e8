// A view of features as they lie in memory, for the tree learners: what LightGBM and XGBoost bin
// once and never touch again. NaN is a missing value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bregboost {

// Copies nothing: the arrays must outlive the view, but not the data set made of it.
struct FeatureArray {
  enum class Layout {
    kRowMajor,
    kColumnMajor,
    kCsr,  // an entry that is absent is 0 to LightGBM and missing to XGBoost, as in the libraries
  };

  static FeatureArray RowMajor(std::span<const float> values, std::size_t rows,
                               std::size_t columns);
  static FeatureArray RowMajor(std::span<const double> values, std::size_t rows,
                               std::size_t columns);
  static FeatureArray ColumnMajor(std::span<const float> values, std::size_t rows,
                                  std::size_t columns);
  static FeatureArray ColumnMajor(std::span<const double> values, std::size_t rows,
                                  std::size_t columns);
  // Row i holds entries row_offsets[i] to row_offsets[i + 1].
  static FeatureArray Csr(std::span<const std::int64_t> row_offsets,
                          std::span<const std::int32_t> column_indices,
                          std::span<const float> values, std::size_t columns);
  static FeatureArray Csr(std::span<const std::int64_t> row_offsets,
                          std::span<const std::int32_t> column_indices,
                          std::span<const double> values, std::size_t columns);

  Layout layout = Layout::kRowMajor;
  bool is_float32 = false;  // else float64
  const void* values = nullptr;
  std::size_t num_values = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::span<const std::int64_t> row_offsets;
  std::span<const std::int32_t> column_indices;

  std::vector<std::string> names;        // of the columns; empty: the library's own
  std::vector<std::size_t> categorical;  // columns of category codes 0, 1, 2, ...
};

// Throws std::invalid_argument naming the field: sizes, column indices, names, categorical.
void Validate(const FeatureArray& features);

// A hash of every value in its place, and of names and categories: tells data sets apart.
std::uint64_t Fingerprint(const FeatureArray& features);

}  // namespace bregboost
