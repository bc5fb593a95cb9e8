// A view of a feature matrix, dense or sparse, with the two products that linear models need.
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <variant>

namespace bregboost {

// Copies nothing but in TakeRows(): the arrays must outlive the view. Products run in parallel, and
// their results do not depend on the number of threads.
class FeatureMatrix {
 public:
  static FeatureMatrix DenseRowMajor(std::span<const double> values, std::size_t rows,
                                     std::size_t columns);
  static FeatureMatrix DenseColumnMajor(std::span<const double> values, std::size_t rows,
                                        std::size_t columns);
  // Compressed rows: row i holds entries row_offsets[i] to row_offsets[i + 1]; column indices are
  // sorted within a row.
  static FeatureMatrix Csr(std::span<const std::int32_t> row_offsets,
                           std::span<const std::int32_t> column_indices,
                           std::span<const double> values, std::size_t columns);

  // The given rows, in that order: a matrix that owns its values, dense or sparse as this one.
  FeatureMatrix TakeRows(std::span<const std::int32_t> rows) const;

  std::size_t rows() const;
  std::size_t columns() const;

  // scores[k * rows + i] = intercept[k] + sum_j x_ij coefficients(j, k)
  void Multiply(const Eigen::Ref<const Eigen::MatrixXd>& coefficients,
                const Eigen::Ref<const Eigen::VectorXd>& intercept, std::span<double> scores) const;

  // result(j, k) = sum_i x_ij gradient[k * rows + i]
  Eigen::MatrixXd TransposedMultiply(std::span<const double> gradient) const;

  // sum_i weights_i ||x_i||^2
  double WeightedSquaredNorm(std::span<const double> weights) const;

  // [X 1]' diag(weights) [X 1] if `with_intercept`, else X' diag(weights) X.
  Eigen::MatrixXd WeightedGram(std::span<const double> weights, bool with_intercept) const;

 private:
  using RowMajor =
      Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  using ColumnMajor = Eigen::Map<const Eigen::MatrixXd>;
  using Sparse = Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>>;
  using Storage = std::variant<RowMajor, ColumnMajor, Sparse>;

  explicit FeatureMatrix(Storage storage) : storage_(std::move(storage)) {}

  Storage storage_;
  std::shared_ptr<const void> owned_;  // what storage_ looks at, if it is ours
};

}  // namespace bregboost
