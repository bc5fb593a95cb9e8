#include "bregboost/data/feature_matrix.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "random_problems.h"

namespace bregboost {
namespace {

using test::Random;

// The same numbers in the three storages; about half of them are zero.
struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<double> row_major, column_major;
  std::vector<std::int32_t> row_offsets = {0}, column_indices;
  std::vector<double> nonzeros;

  double At(std::size_t i, std::size_t j) const { return row_major[i * columns + j]; }

  std::vector<std::pair<std::string, FeatureMatrix>> AllStorages() const {
    return {{"row-major", FeatureMatrix::DenseRowMajor(row_major, rows, columns)},
            {"column-major", FeatureMatrix::DenseColumnMajor(column_major, rows, columns)},
            {"csr", FeatureMatrix::Csr(row_offsets, column_indices, nonzeros, columns)}};
  }
};

Matrix RandomMatrix(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  Random random(seed);
  Matrix matrix{.rows = rows,
                .columns = columns,
                .row_major = test::RandomNormal(rows * columns, 1.0, random),
                .column_major = std::vector<double>(rows * columns)};
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      double& value = matrix.row_major[i * columns + j];
      if (random() % 2 == 0) value = 0.0;
      matrix.column_major[j * rows + i] = value;
      if (value == 0.0) continue;
      matrix.column_indices.push_back(static_cast<std::int32_t>(j));
      matrix.nonzeros.push_back(value);
    }
    matrix.row_offsets.push_back(static_cast<std::int32_t>(matrix.nonzeros.size()));
  }
  return matrix;
}

Eigen::MatrixXd RandomCoefficients(std::size_t columns, std::size_t num_scores) {
  Random random(11);
  const auto values = test::RandomNormal(columns * num_scores, 1.0, random);
  return Eigen::Map<const Eigen::MatrixXd>(values.data(), static_cast<Eigen::Index>(columns),
                                           static_cast<Eigen::Index>(num_scores));
}

// One chunk of rows, several chunks, one column, and a matrix of which CSR stores nothing.
std::vector<Matrix> Matrices() {
  Matrix zero = RandomMatrix(3, 2, 0);
  zero.row_major.assign(6, 0.0);
  zero.column_major.assign(6, 0.0);
  zero.row_offsets.assign(4, 0);
  zero.column_indices.clear();
  zero.nonzeros.clear();
  return {RandomMatrix(50, 7, 1), RandomMatrix(9000, 5, 2), RandomMatrix(40, 1, 3), zero};
}

constexpr double kTolerance = 1e-10;  // sums of up to 9,000 products of order 1

TEST(FeatureMatrix, Size) {
  const Matrix matrix = RandomMatrix(50, 7, 1);
  for (const auto& [name, x] : matrix.AllStorages()) {
    SCOPED_TRACE(name);
    EXPECT_EQ(x.rows(), 50U);
    EXPECT_EQ(x.columns(), 7U);
  }
}

TEST(FeatureMatrix, MultiplyAgreesWithALoop) {
  constexpr std::size_t kScores = 3;
  const Eigen::VectorXd intercept{{0.5, -1.0, 2.0}};
  for (const Matrix& matrix : Matrices()) {
    const Eigen::MatrixXd coefficients = RandomCoefficients(matrix.columns, kScores);
    for (const auto& [name, x] : matrix.AllStorages()) {
      SCOPED_TRACE(name);
      std::vector<double> scores(matrix.rows * kScores, 1e9);  // to be overwritten
      x.Multiply(coefficients, intercept, scores);
      double worst = 0.0;
      for (std::size_t i = 0; i < matrix.rows; ++i) {
        for (std::size_t k = 0; k < kScores; ++k) {
          const auto column = static_cast<Eigen::Index>(k);
          double expected = intercept[column];
          for (std::size_t j = 0; j < matrix.columns; ++j) {
            expected += matrix.At(i, j) * coefficients(static_cast<Eigen::Index>(j), column);
          }
          worst = std::max(worst, std::abs(scores[k * matrix.rows + i] - expected));
        }
      }
      EXPECT_LE(worst, kTolerance);
    }
  }
}

TEST(FeatureMatrix, TransposedMultiplyAgreesWithALoop) {
  constexpr std::size_t kScores = 2;
  Random random(5);
  for (const Matrix& matrix : Matrices()) {
    const std::vector<double> gradient = test::RandomNormal(matrix.rows * kScores, 1.0, random);
    Eigen::MatrixXd expected =
        Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(matrix.columns), kScores);
    for (std::size_t i = 0; i < matrix.rows; ++i) {
      for (std::size_t j = 0; j < matrix.columns; ++j) {
        for (std::size_t k = 0; k < kScores; ++k) {
          expected(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(k)) +=
              matrix.At(i, j) * gradient[k * matrix.rows + i];
        }
      }
    }
    for (const auto& [name, x] : matrix.AllStorages()) {
      SCOPED_TRACE(name);
      const Eigen::MatrixXd result = x.TransposedMultiply(gradient);
      ASSERT_EQ(result.rows(), expected.rows());
      ASSERT_EQ(result.cols(), expected.cols());
      EXPECT_LE((result - expected).cwiseAbs().maxCoeff(), kTolerance);
    }
  }
}

TEST(FeatureMatrix, WeightedGramAgreesWithALoop) {
  Random random(6);
  for (const Matrix& matrix : Matrices()) {
    const std::vector<double> weights = test::RandomUniform(matrix.rows, 0.0, 2.0, random);
    const std::size_t d = matrix.columns;
    const auto with_one = [&](std::size_t i, std::size_t j) {
      return j == d ? 1.0 : matrix.At(i, j);
    };
    const auto size = static_cast<Eigen::Index>(d);
    Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(size + 1, size + 1);
    for (std::size_t i = 0; i < matrix.rows; ++i) {
      for (std::size_t a = 0; a <= d; ++a) {
        for (std::size_t b = 0; b <= d; ++b) {
          expected(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) +=
              weights[i] * with_one(i, a) * with_one(i, b);
        }
      }
    }
    for (const auto& [name, x] : matrix.AllStorages()) {
      SCOPED_TRACE(name);
      const Eigen::MatrixXd with_intercept = x.WeightedGram(weights, /*with_intercept=*/true);
      ASSERT_EQ(with_intercept.rows(), size + 1);
      EXPECT_LE((with_intercept - expected).cwiseAbs().maxCoeff(), kTolerance);
      const Eigen::MatrixXd without = x.WeightedGram(weights, /*with_intercept=*/false);
      ASSERT_EQ(without.rows(), size);
      EXPECT_LE((without - expected.topLeftCorner(size, size)).cwiseAbs().maxCoeff(), kTolerance);
    }
  }
}

// All three products, bit for bit. Wide enough for a library to want threads inside a product.
TEST(FeatureMatrix, ProductsDoNotDependOnTheNumberOfThreads) {
  constexpr std::size_t kScores = 12;
  const int threads_before = omp_get_max_threads();
  for (const std::size_t rows : {1500U, 9000U}) {
    const Matrix matrix = RandomMatrix(rows, 50, 7);
    Random random(8);
    const std::vector<double> gradient = test::RandomNormal(rows * kScores, 1.0, random);
    const std::vector<double> weights = test::RandomUniform(rows, 0.0, 2.0, random);
    const Eigen::MatrixXd coefficients = RandomCoefficients(matrix.columns, kScores);
    for (const auto& [name, x] : matrix.AllStorages()) {
      SCOPED_TRACE(name);
      const auto products = [&, &features = x](int threads) {
        omp_set_num_threads(threads);
        std::vector<double> scores(rows * kScores);
        features.Multiply(coefficients, Eigen::VectorXd::Ones(kScores), scores);
        return std::tuple{scores, features.TransposedMultiply(gradient),
                          features.WeightedGram(weights, true)};
      };
      const auto one = products(1);
      for (const int threads : {2, 3}) {
        const auto several = products(threads);
        EXPECT_TRUE(std::get<0>(one) == std::get<0>(several)) << "Multiply, " << threads;
        EXPECT_TRUE(std::get<1>(one) == std::get<1>(several)) << "TransposedMultiply, " << threads;
        EXPECT_TRUE(std::get<2>(one) == std::get<2>(several)) << "WeightedGram, " << threads;
      }
    }
  }
  omp_set_num_threads(threads_before);
}

void ExpectError(const std::function<void()>& make, const std::string& message) {
  try {
    make();
    FAIL() << "no error; expected: " << message;
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(error.what(), message);
  }
}

TEST(FeatureMatrixError, DenseSize) {
  const std::vector<double> five(5, 1.0);
  const std::string message = "features: 5 values; allowed: rows * columns = 2 * 3";
  ExpectError([&] { FeatureMatrix::DenseRowMajor(five, 2, 3); }, message);
  ExpectError([&] { FeatureMatrix::DenseColumnMajor(five, 2, 3); }, message);
}

TEST(FeatureMatrixError, ValuesAreFinite) {
  std::vector<double> values = {1.0, 2.0, std::numeric_limits<double>::quiet_NaN(), 4.0};
  const std::string message = "features: value nan at position 2; allowed: finite";
  ExpectError([&] { FeatureMatrix::DenseRowMajor(values, 2, 2); }, message);
  ExpectError([&] { FeatureMatrix::DenseColumnMajor(values, 2, 2); }, message);
  const std::vector<std::int32_t> offsets = {0, 2, 4}, columns = {0, 1, 0, 1};
  ExpectError([&] { FeatureMatrix::Csr(offsets, columns, values, 2); }, message);
  values[2] = -std::numeric_limits<double>::infinity();
  ExpectError([&] { FeatureMatrix::DenseRowMajor(values, 2, 2); },
              "features: value -inf at position 2; allowed: finite");
}

TEST(FeatureMatrixError, CsrOffsets) {
  const std::vector<double> values = {1.0, 2.0};
  const std::vector<std::int32_t> columns = {0, 1};
  const auto csr = [&](const std::vector<std::int32_t>& offsets) {
    return [&] { FeatureMatrix::Csr(offsets, columns, values, 2); };
  };
  const std::string ends = "features: row_offsets must start at 0 and end at the number of values;";
  ExpectError(csr({}), ends + " 0 offsets, 2 column indices, 2 values given");
  ExpectError(csr({0, 1}), ends + " 2 offsets, 2 column indices, 2 values given");
  ExpectError(csr({1, 2}), ends + " 2 offsets, 2 column indices, 2 values given");
  ExpectError(csr({0, -1}), ends + " 2 offsets, 2 column indices, 2 values given");
  ExpectError(csr({0, 3, 2}),
              "features: row_offsets fall from 3 to 2 at row 1; allowed: never falling");
  const std::vector<std::int32_t> one_column = {0}, good = {0, 2};
  ExpectError([&] { FeatureMatrix::Csr(good, one_column, values, 2); },
              ends + " 2 offsets, 1 column indices, 2 values given");
}

TEST(FeatureMatrixError, CsrColumnIndices) {
  const std::vector<double> values = {1.0, 2.0};
  const std::vector<std::int32_t> offsets = {0, 2}, high = {0, 2}, negative = {-1, 1};
  ExpectError([&] { FeatureMatrix::Csr(offsets, high, values, 2); },
              "features: column index 2; allowed: 0 to 1");
  ExpectError([&] { FeatureMatrix::Csr(offsets, negative, values, 2); },
              "features: column index -1; allowed: 0 to 1");
  ExpectError([&] { FeatureMatrix::Csr(offsets, high, values, 0); },
              "features: column index 0; allowed: none, there are 0 columns");
}

TEST(FeatureMatrixError, RowsThatAreTaken) {
  const Matrix matrix = RandomMatrix(4, 3, 1);
  for (const auto& [name, x] : matrix.AllStorages()) {
    SCOPED_TRACE(name);
    for (const std::int32_t row : {-1, 4}) {
      const std::vector<std::int32_t> rows = {0, row};
      ExpectError([&, &features = x] { features.TakeRows(rows); },
                  "rows: " + std::to_string(row) + "; allowed: at least 0 and below 4");
    }
  }
}

TEST(FeatureMatrixError, SizesOfProducts) {
  const Matrix matrix = RandomMatrix(4, 3, 1);
  const FeatureMatrix x = FeatureMatrix::DenseRowMajor(matrix.row_major, 4, 3);
  std::vector<double> scores(8), seven(7);
  const Eigen::MatrixXd good = Eigen::MatrixXd::Zero(3, 2), bad = Eigen::MatrixXd::Zero(2, 2);
  const Eigen::VectorXd two = Eigen::VectorXd::Zero(2), one = Eigen::VectorXd::Zero(1);
  ExpectError([&] { x.Multiply(bad, two, scores); }, "coefficients: 2 rows; allowed: 3");
  ExpectError([&] { x.Multiply(good, one, scores); }, "intercept: 1 values; allowed: 2");
  ExpectError([&] { x.Multiply(good, two, seven); }, "scores: 7 values; allowed: 8");
  ExpectError([&] { x.TransposedMultiply(seven); },
              "gradient: 7 values; allowed: a multiple of the 4 rows");
  ExpectError([&] { x.WeightedGram(seven, false); }, "weights: 7 values; allowed: 4");
}

}  // namespace
}  // namespace bregboost
