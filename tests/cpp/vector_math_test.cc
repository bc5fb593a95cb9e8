#include "problem/detail/vector_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace bregboost::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kRelative = 1e-15;  // between 4 and 9 units in the last place

std::vector<double> Exp(const std::vector<double>& x) {
  std::vector<double> result(x.size());
  ExpArray(x.data(), x.size(), result.data());
  return result;
}

struct Logistic {
  explicit Logistic(const std::vector<double>& x) : sigmoid(x.size()), tail(x.size()) {
    LogisticArray(x.data(), x.size(), sigmoid.data(), tail.data());
  }
  std::vector<double> sigmoid, tail;
};

// low, low + step, ... up to high, and magnitudes from 1e-300 up.
std::vector<double> WideRange(double low, double high, double step) {
  std::vector<double> values = {0.0, -0.0};
  for (double x = low; x <= high; x += step) values.push_back(x);
  for (double size = 1e-300; size < 1.0; size *= 7.3) {
    values.push_back(size);
    values.push_back(-size);
  }
  return values;
}

// The largest relative error over `x`, with the argument at which it occurs.
template <class Reference>
void ExpectRelative(const std::vector<double>& x, const std::vector<double>& result,
                    const Reference& reference) {
  double worst = 0.0, at = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double expected = reference(static_cast<long double>(x[i]));
    const auto error =
        static_cast<double>(std::abs((static_cast<long double>(result[i]) - expected) / expected));
    if (error <= worst) continue;  // NaN would pass here, so count it below
    worst = error;
    at = x[i];
  }
  EXPECT_LE(worst, kRelative) << "at x = " << at;
  EXPECT_EQ(std::count_if(result.begin(), result.end(), [](double r) { return std::isnan(r); }), 0);
}

TEST(ExpArray, IsAccurateOverAWideRange) {
  const std::vector<double> x = WideRange(-700.0, 700.0, 0.0137);
  ExpectRelative(x, Exp(x), [](long double v) { return std::exp(v); });
}

TEST(ExpArray, FallsToZeroBelowTheSmallestNumber) {
  for (const double x : {-746.0, -1000.0, -1e300, -kInfinity}) EXPECT_EQ(Exp({x})[0], 0.0) << x;
  double previous = 1e-300;
  for (double x = -705.0; x > -760.0; x -= 0.25) {  // through the subnormal numbers
    const double value = Exp({x})[0];
    EXPECT_GE(value, 0.0) << x;
    EXPECT_LE(value, previous) << x;
    previous = value;
  }
}

TEST(ExpArray, KeepsNaN) {
  const std::vector<double> result = Exp({0.0, kNaN, 1.0});
  EXPECT_EQ(result[0], 1.0);
  EXPECT_TRUE(std::isnan(result[1]));
  EXPECT_DOUBLE_EQ(result[2], std::exp(1.0));
}

TEST(ExpArray, WorksInPlace) {
  std::vector<double> x = WideRange(-10.0, 10.0, 0.7);
  const std::vector<double> expected = Exp(x);
  ExpArray(x.data(), x.size(), x.data());
  EXPECT_EQ(x, expected);
}

TEST(LogisticArray, SigmoidIsAccurateOverAWideRange) {
  const std::vector<double> x = WideRange(-700.0, 700.0, 0.0137);
  ExpectRelative(x, Logistic(x).sigmoid, [](long double v) { return 1 / (1 + std::exp(-v)); });
}

TEST(LogisticArray, TailIsAccurateOverAWideRange) {
  const std::vector<double> x = WideRange(-700.0, 700.0, 0.0137);
  ExpectRelative(x, Logistic(x).tail,
                 [](long double v) { return std::log1p(std::exp(-std::abs(v))); });
}

TEST(LogisticArray, InfinitiesAndNaN) {
  const Logistic result({kInfinity, -kInfinity, 1e300, -1e300, kNaN});
  EXPECT_EQ(result.sigmoid[0], 1.0);
  EXPECT_EQ(result.sigmoid[1], 0.0);
  EXPECT_EQ(result.sigmoid[2], 1.0);
  EXPECT_EQ(result.sigmoid[3], 0.0);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(result.tail[i], 0.0) << i;
  EXPECT_TRUE(std::isnan(result.sigmoid[4]));
  EXPECT_TRUE(std::isnan(result.tail[4]));
}

TEST(SigmoidArray, IsTheSigmoidOfLogisticArray) {
  std::vector<double> x = WideRange(-50.0, 50.0, 0.37);
  x.insert(x.end(), {kInfinity, -kInfinity});
  std::vector<double> sigmoid(x.size());
  SigmoidArray(x.data(), x.size(), sigmoid.data());
  EXPECT_EQ(sigmoid, Logistic(x).sigmoid);
  SigmoidArray(&kNaN, 1, sigmoid.data());
  EXPECT_TRUE(std::isnan(sigmoid[0]));
}

TEST(FirstLargestArray, IsTheFirstOfEqualsAndKeepsNaN) {
  // Columns of 9 rows, 11 apart: no row after the first of a vector may be lost.
  constexpr std::size_t kRows = 9, kStride = 11;
  const std::vector<std::vector<double>> rows = {
      {1.0, 2.0, 3.0},  {3.0, 2.0, 1.0},  {1.0, 3.0, 3.0},
      {2.0, 2.0, 2.0},  {-0.0, 0.0, 0.0}, {-kInfinity, -kInfinity, -1e300},
      {kNaN, 2.0, 3.0}, {1.0, kNaN, 3.0}, {3.0, 2.0, kNaN}};
  const std::vector<double> expected = {2.0, 0.0, 1.0, 0.0, 0.0, 2.0, kNaN, kNaN, kNaN};
  std::vector<double> columns(3 * kStride, kNaN), first(kRows + 1, -123.0);
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t k = 0; k < 3; ++k) columns[k * kStride + i] = rows[i][k];
  }
  for (std::size_t n = 0; n <= kRows; ++n) {
    first.assign(kRows + 1, -123.0);
    FirstLargestArray(columns.data(), kStride, 3, n, first.data());
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(std::isnan(first[i]), std::isnan(expected[i])) << i;
      if (!std::isnan(expected[i])) {
        EXPECT_EQ(first[i], expected[i]) << i;
      }
    }
    EXPECT_EQ(first[n], -123.0);
  }
}

// Whole vectors and the rest give the same number for the same argument, and nothing is written
// outside of the array.
TEST(VectorMath, EveryLengthAndNothingBeyondIt) {
  constexpr double kUntouched = -123.0;
  const auto argument = [](std::size_t i) { return std::sin(static_cast<double>(7 * i)) * 20.0; };
  for (std::size_t n = 0; n <= 40; ++n) {
    SCOPED_TRACE(n);
    std::vector<double> x(n), exp(n + 1, kUntouched), sigmoid(n + 1, kUntouched);
    std::vector<double> tail(n + 1, kUntouched), alone(n + 1, kUntouched);
    for (std::size_t i = 0; i < n; ++i) x[i] = argument(i);
    ExpArray(x.data(), n, exp.data());
    LogisticArray(x.data(), n, sigmoid.data(), tail.data());
    SigmoidArray(x.data(), n, alone.data());
    for (std::size_t i = 0; i < n; ++i) {
      const Logistic single({x[i]});
      EXPECT_EQ(exp[i], Exp({x[i]})[0]);
      EXPECT_EQ(sigmoid[i], single.sigmoid[0]);
      EXPECT_EQ(tail[i], single.tail[0]);
      EXPECT_EQ(alone[i], single.sigmoid[0]);
    }
    for (const auto* result : {&exp, &sigmoid, &tail, &alone}) EXPECT_EQ((*result)[n], kUntouched);
  }
}

}  // namespace
}  // namespace bregboost::detail
