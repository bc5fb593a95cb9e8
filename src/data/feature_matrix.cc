#include "bregboost/data/feature_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "detail/parallel.h"

namespace bregboost {
namespace {

using detail::ForEachChunk;
using detail::NumChunks;

void CheckSize(std::size_t size, std::size_t rows, std::size_t columns) {
  if (size == rows * columns) return;
  throw std::invalid_argument(
      fmt::format("features: {} values; allowed: rows * columns = {} * {}", size, rows, columns));
}

void CheckFinite(std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    throw std::invalid_argument(
        fmt::format("features: value {} at position {}; allowed: finite", values[i], i));
  }
}

void CheckCsr(std::span<const std::int32_t> row_offsets,
              std::span<const std::int32_t> column_indices, std::span<const double> values,
              std::size_t columns) {
  if (row_offsets.empty() || row_offsets.front() != 0 ||
      static_cast<std::size_t>(row_offsets.back()) != values.size() ||
      column_indices.size() != values.size()) {
    throw std::invalid_argument(
        fmt::format("features: row_offsets must start at 0 and end at the number of values; {} "
                    "offsets, {} column indices, {} values given",
                    row_offsets.size(), column_indices.size(), values.size()));
  }
  for (std::size_t i = 0; i + 1 < row_offsets.size(); ++i) {
    if (row_offsets[i] <= row_offsets[i + 1]) continue;
    throw std::invalid_argument(
        fmt::format("features: row_offsets fall from {} to {} at row {}; allowed: never falling",
                    row_offsets[i], row_offsets[i + 1], i));
  }
  for (const std::int32_t column : column_indices) {
    if (column >= 0 && static_cast<std::size_t>(column) < columns) continue;
    throw std::invalid_argument(fmt::format(
        "features: column index {}; allowed: {}", column,
        columns == 0 ? "none, there are 0 columns" : fmt::format("0 to {}", columns - 1)));
  }
}

Eigen::Index Signed(std::size_t value) { return static_cast<Eigen::Index>(value); }

void CheckLength(const char* field, Eigen::Index length, Eigen::Index allowed,
                 const char* unit = "values") {
  if (length == allowed) return;
  throw std::invalid_argument(fmt::format("{}: {} {}; allowed: {}", field, length, unit, allowed));
}

// Eigen splits a product with 8 or more result columns among the threads, and how it splits decides
// how it rounds, unless it finds itself in a parallel region. So such products always run in one.
bool EigenWouldSplit(Eigen::Index result_columns) { return result_columns >= 8; }

// The upper triangle of gram(0..d, 0..d) += block' diag(weights) block, by panels of columns whose
// width does not depend on the number of threads.
void AddToUpperGram(const Eigen::MatrixXd& block, const Eigen::Ref<const Eigen::VectorXd>& weights,
                    Eigen::MatrixXd& gram) {
  constexpr Eigen::Index kPanel = 32;
  const Eigen::Index panels = (block.cols() + kPanel - 1) / kPanel;
#pragma omp parallel for schedule(dynamic) if (EigenWouldSplit(block.cols()))
  for (Eigen::Index panel = 0; panel < panels; ++panel) {
    const Eigen::Index first = panel * kPanel;
    const Eigen::Index count = std::min(kPanel, block.cols() - first);
    const Eigen::MatrixXd weighted = weights.asDiagonal() * block.middleCols(first, count);
    gram.block(0, first, first + count, count).noalias() +=
        block.leftCols(first + count).transpose() * weighted;
  }
}

}  // namespace

FeatureMatrix FeatureMatrix::DenseRowMajor(std::span<const double> values, std::size_t rows,
                                           std::size_t columns) {
  CheckSize(values.size(), rows, columns);
  CheckFinite(values);
  return FeatureMatrix(RowMajor(values.data(), Signed(rows), Signed(columns)));
}

FeatureMatrix FeatureMatrix::DenseColumnMajor(std::span<const double> values, std::size_t rows,
                                              std::size_t columns) {
  CheckSize(values.size(), rows, columns);
  CheckFinite(values);
  return FeatureMatrix(ColumnMajor(values.data(), Signed(rows), Signed(columns)));
}

FeatureMatrix FeatureMatrix::Csr(std::span<const std::int32_t> row_offsets,
                                 std::span<const std::int32_t> column_indices,
                                 std::span<const double> values, std::size_t columns) {
  CheckCsr(row_offsets, column_indices, values, columns);
  CheckFinite(values);
  return FeatureMatrix(Sparse(Signed(row_offsets.size()) - 1, Signed(columns),
                              Signed(values.size()), row_offsets.data(), column_indices.data(),
                              values.data()));
}

FeatureMatrix FeatureMatrix::TakeRows(std::span<const std::int32_t> chosen) const {
  for (const std::int32_t row : chosen) {
    if (row >= 0 && static_cast<std::size_t>(row) < rows()) continue;
    throw std::invalid_argument(
        fmt::format("rows: {}; allowed: at least 0 and below {}", row, rows()));
  }
  using OwnedDense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using OwnedSparse = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;
  const auto take_dense = [&](const auto& matrix) {
    auto taken = std::make_shared<OwnedDense>(Signed(chosen.size()), matrix.cols());
    for (std::size_t i = 0; i < chosen.size(); ++i) taken->row(Signed(i)) = matrix.row(chosen[i]);
    FeatureMatrix result(RowMajor(taken->data(), taken->rows(), taken->cols()));
    result.owned_ = std::move(taken);
    return result;
  };
  if (const auto* dense = std::get_if<RowMajor>(&storage_)) return take_dense(*dense);
  if (const auto* dense = std::get_if<ColumnMajor>(&storage_)) return take_dense(*dense);
  const Sparse& sparse = std::get<Sparse>(storage_);
  std::vector<Eigen::Triplet<double, std::int32_t>> entries;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (Sparse::InnerIterator entry(sparse, chosen[i]); entry; ++entry) {
      entries.emplace_back(static_cast<std::int32_t>(i), static_cast<std::int32_t>(entry.col()),
                           entry.value());
    }
  }
  auto taken = std::make_shared<OwnedSparse>(Signed(chosen.size()), sparse.cols());
  taken->setFromTriplets(entries.begin(), entries.end());
  taken->makeCompressed();
  FeatureMatrix result(Sparse(taken->rows(), taken->cols(), taken->nonZeros(),
                              taken->outerIndexPtr(), taken->innerIndexPtr(), taken->valuePtr()));
  result.owned_ = std::move(taken);
  return result;
}

std::size_t FeatureMatrix::rows() const {
  return std::visit([](const auto& x) { return static_cast<std::size_t>(x.rows()); }, storage_);
}

std::size_t FeatureMatrix::columns() const {
  return std::visit([](const auto& x) { return static_cast<std::size_t>(x.cols()); }, storage_);
}

void FeatureMatrix::Multiply(const Eigen::Ref<const Eigen::MatrixXd>& coefficients,
                             const Eigen::Ref<const Eigen::VectorXd>& intercept,
                             std::span<double> scores) const {
  CheckLength("coefficients", coefficients.rows(), Signed(columns()), "rows");
  CheckLength("intercept", intercept.size(), coefficients.cols());
  CheckLength("scores", Signed(scores.size()), Signed(rows()) * coefficients.cols());
  std::visit(
      [&](const auto& x) {
        Eigen::Map<Eigen::MatrixXd> out(scores.data(), x.rows(), coefficients.cols());
        const auto multiply = [&](std::size_t, std::size_t begin, std::size_t end) {
          const Eigen::Index first = Signed(begin);
          const Eigen::Index count = Signed(end - begin);
          auto part = out.middleRows(first, count);
          part.noalias() = x.middleRows(first, count) * coefficients;
          part.rowwise() += intercept.transpose();
        };
        ForEachChunk(rows(), multiply, EigenWouldSplit(coefficients.cols()));
      },
      storage_);
}

Eigen::MatrixXd FeatureMatrix::TransposedMultiply(std::span<const double> gradient) const {
  if (rows() == 0 || gradient.size() % rows() != 0) {
    throw std::invalid_argument(fmt::format(
        "gradient: {} values; allowed: a multiple of the {} rows", gradient.size(), rows()));
  }
  return std::visit(
      [&](const auto& x) {
        const Eigen::Index num_scores = Signed(gradient.size()) / x.rows();
        const Eigen::Map<const Eigen::MatrixXd> g(gradient.data(), x.rows(), num_scores);
        std::vector<Eigen::MatrixXd> partial(NumChunks(rows()));
        const auto multiply = [&](std::size_t chunk, std::size_t begin, std::size_t end) {
          const Eigen::Index first = Signed(begin);
          const Eigen::Index count = Signed(end - begin);
          partial[chunk] = x.middleRows(first, count).transpose() * g.middleRows(first, count);
        };
        ForEachChunk(rows(), multiply, EigenWouldSplit(num_scores));
        Eigen::MatrixXd total = Eigen::MatrixXd::Zero(x.cols(), num_scores);
        for (const Eigen::MatrixXd& part : partial) total += part;
        return total;
      },
      storage_);
}

double FeatureMatrix::WeightedSquaredNorm(std::span<const double> weights) const {
  return std::visit(
      [&](const auto& x) {
        double total = 0.0;
        for (Eigen::Index i = 0; i < x.rows(); ++i) {
          total += weights[static_cast<std::size_t>(i)] * x.row(i).squaredNorm();
        }
        return total;
      },
      storage_);
}

Eigen::MatrixXd FeatureMatrix::WeightedGram(std::span<const double> weights,
                                            bool with_intercept) const {
  CheckLength("weights", Signed(weights.size()), Signed(rows()));
  const Eigen::Index d = Signed(columns());
  const Eigen::Map<const Eigen::VectorXd> w(weights.data(), Signed(weights.size()));
  Eigen::MatrixXd gram =
      Eigen::MatrixXd::Zero(d + (with_intercept ? 1 : 0), d + (with_intercept ? 1 : 0));
  std::visit(
      [&](const auto& x) {
        constexpr Eigen::Index kRows = 4096;  // keeps the dense copy of a sparse block small
        for (Eigen::Index first = 0; first < x.rows(); first += kRows) {
          const Eigen::Index count = std::min(kRows, x.rows() - first);
          const Eigen::MatrixXd block = x.middleRows(first, count);
          AddToUpperGram(block, w.segment(first, count), gram);
        }
      },
      storage_);
  gram.topLeftCorner(d, d).triangularView<Eigen::StrictlyLower>() =
      gram.topLeftCorner(d, d).transpose();
  if (with_intercept) {
    gram.topRightCorner(d, 1) = TransposedMultiply(weights);
    gram.bottomLeftCorner(1, d) = gram.topRightCorner(d, 1).transpose();
    gram(d, d) = w.sum();
  }
  return gram;
}

}  // namespace bregboost
