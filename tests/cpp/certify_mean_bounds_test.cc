// Bounds by betting: their exact coverage, by enumeration of all outcomes of a few rows, and
// simulated on skewed distributions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bregboost/certify/binomial_bounds.h"
#include "bregboost/certify/mean_bounds.h"
#include "error_text.h"

namespace bregboost {
namespace {

using Random = std::mt19937_64;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One kind of row: its probability, value and weight.
struct Kind {
  double probability, value, weight;
};

double TrueMean(const std::vector<Kind>& kinds) {
  double sum = 0.0, weight = 0.0;
  for (const Kind& kind : kinds) {
    sum += kind.probability * kind.weight * kind.value;
    weight += kind.probability * kind.weight;
  }
  return sum / weight;
}

// The probability that the bounds of `rows` independent rows are on the wrong side.
struct Failures {
  double upper = 0.0, lower = 0.0;
};
Failures EnumeratedFailures(const std::vector<Kind>& kinds, std::size_t rows, double delta) {
  const double mean = TrueMean(kinds);
  Failures failures;
  std::vector<std::size_t> outcome(rows, 0);
  while (true) {
    std::vector<double> values, weights;
    double probability = 1.0;
    for (const std::size_t kind : outcome) {
      probability *= kinds[kind].probability;
      values.push_back(kinds[kind].value);
      weights.push_back(kinds[kind].weight);
    }
    const BoundedSample sample{
        .values = values, .weights = weights, .low = 0.0, .high = 1.0, .max_weight = 2.0};
    if (MeanUpperBound(sample, {.delta = delta, .seed = 3}) < mean) failures.upper += probability;
    if (MeanLowerBound(sample, {.delta = delta, .seed = 3}) > mean) failures.lower += probability;
    std::size_t i = 0;
    while (i < rows && ++outcome[i] == kinds.size()) outcome[i++] = 0;
    if (i == rows) return failures;
  }
}

TEST(MeanBounds, FailNoMoreOftenThanDelta) {
  for (const double delta : {0.1, 0.3}) {
    for (const double rate : {0.05, 0.3, 0.6, 0.95}) {
      const std::vector<Kind> plain = {{rate, 1.0, 2.0}, {1.0 - rate, 0.0, 2.0}};
      const Failures failures = EnumeratedFailures(plain, 9, delta);
      EXPECT_LE(failures.upper, delta) << rate;
      EXPECT_LE(failures.lower, delta) << rate;
      // Heavy rows are rare and differ from the others.
      const std::vector<Kind> weighted = {
          {0.1, rate, 2.0}, {0.1, 0.0, 2.0}, {0.5, 1.0 - rate, 0.3}, {0.3, 0.0, 0.3}};
      const Failures of_weighted = EnumeratedFailures(weighted, 6, delta);
      EXPECT_LE(of_weighted.upper, delta) << rate;
      EXPECT_LE(of_weighted.lower, delta) << rate;
    }
  }
}

TEST(MeanBounds, CoverSkewedDistributions) {
  const std::vector<std::pair<double, std::function<double(Random&)>>> distributions = {
      {0.03, [](Random& random) { return std::bernoulli_distribution(0.03)(random) ? 1.0 : 0.0; }},
      {1.0 / 9.0,
       [](Random& random) {  // u^8
         return std::pow(std::uniform_real_distribution<double>()(random), 8.0);
       }},
      {0.97, [](Random& random) { return std::bernoulli_distribution(0.97)(random) ? 1.0 : 0.0; }},
  };
  constexpr int kSets = 400;
  constexpr double kDelta = 0.1;
  const double most = kSets * kDelta + 4.0 * std::sqrt(kSets * kDelta * (1.0 - kDelta));
  for (const auto& [mean, draw] : distributions) {
    int too_low = 0, too_high = 0;
    for (int set = 0; set < kSets; ++set) {
      Random random(static_cast<std::uint64_t>(set));
      std::vector<double> values(300);
      for (double& value : values) value = draw(random);
      const BoundedSample sample{.values = values};
      const MeanBoundOptions options{.delta = kDelta, .seed = 5};
      too_low += MeanUpperBound(sample, options) < mean ? 1 : 0;
      too_high += MeanLowerBound(sample, options) > mean ? 1 : 0;
    }
    EXPECT_LE(too_low, most) << mean;
    EXPECT_LE(too_high, most) << mean;
  }
}

std::vector<double> Events(std::size_t rows, std::size_t events) {
  std::vector<double> values(rows, 0.0);
  std::fill_n(values.begin(), events, 1.0);
  return values;
}

double UpperOf(const std::vector<double>& values, double delta = 0.1) {
  return MeanUpperBound({.values = values}, {.delta = delta, .seed = 1});
}

// Betting pays for not knowing that values are 0 or 1, but not much.
TEST(MeanBounds, AreNearTheBinomialOnes) {
  for (const std::size_t events : {0U, 10U, 50U, 250U}) {
    const double betting = UpperOf(Events(1000, events));
    const double exact = BinomialUpperBound(static_cast<std::int64_t>(events), 1000, 0.1);
    const double rate = static_cast<double>(events) / 1000.0;
    EXPECT_GT(betting, 0.98 * exact);
    EXPECT_LT(betting - rate, 3.0 * (exact - rate));
  }
}

TEST(MeanBounds, AreMonotone) {
  EXPECT_LT(UpperOf(Events(500, 10)), UpperOf(Events(500, 30)));
  EXPECT_LT(UpperOf(Events(2000, 40)), UpperOf(Events(500, 10)));
  EXPECT_LT(UpperOf(Events(500, 10), 0.2), UpperOf(Events(500, 10), 0.02));
}

TEST(MeanBounds, FollowTheRange) {
  const std::vector<double> values = Events(400, 60);
  std::vector<double> stretched;
  for (const double value : values) stretched.push_back(-2.0 + 5.0 * value);
  const MeanBoundOptions options{.delta = 0.1, .seed = 1};
  const BoundedSample sample{.values = stretched, .low = -2.0, .high = 3.0};
  EXPECT_NEAR(MeanUpperBound(sample, options), -2.0 + 5.0 * UpperOf(values), 1e-9);
  // The lower bound is the upper bound of the mirrored values.
  std::vector<double> mirrored;
  for (const double value : values) mirrored.push_back(1.0 - value);
  EXPECT_NEAR(MeanLowerBound({.values = values}, options), 1.0 - UpperOf(mirrored), 1e-9);
}

TEST(MeanBounds, SayNothingWithoutWeight) {
  const std::vector<double> values = Events(100, 10), weights(100, 0.0);
  const BoundedSample sample{.values = values, .weights = weights};
  EXPECT_EQ(MeanUpperBound(sample, {}), 1.0);
  EXPECT_EQ(MeanLowerBound(sample, {}), 0.0);
}

TEST(MeanBounds, AreTheSameForTheSameSeed) {
  std::vector<double> values;
  for (int i = 0; i < 200; ++i) values.push_back(std::fmod(0.37 * i, 1.0));
  const BoundedSample sample{.values = values};
  EXPECT_EQ(MeanUpperBound(sample, {.delta = 0.1, .seed = 7}),
            MeanUpperBound(sample, {.delta = 0.1, .seed = 7}));
  EXPECT_NE(MeanUpperBound(sample, {.delta = 0.1, .seed = 7}),
            MeanUpperBound(sample, {.delta = 0.1, .seed = 8}));
}

TEST(MeanBounds, RefuseUnknownRanges) {
  const std::vector<double> values = {0.0, 0.5, 1.0}, weights = {1.0, 3.0, 1.0}, with_nan = {kNaN};
  EXPECT_THROW(MeanUpperBound({.values = values, .high = kInfinity}, {}), std::invalid_argument);
  EXPECT_THROW(MeanUpperBound({.values = values, .low = kNaN}, {}), std::invalid_argument);
  EXPECT_THROW(MeanUpperBound({.values = values, .high = 0.9}, {}), std::invalid_argument);
  EXPECT_THROW(MeanUpperBound({.values = with_nan}, {}), std::invalid_argument);
  EXPECT_THROW(MeanUpperBound({.values = {}}, {}), std::invalid_argument);
  EXPECT_THROW(MeanLowerBound({.values = values, .weights = weights, .max_weight = 2.0}, {}),
               std::invalid_argument);
  EXPECT_EQ(testing::ErrorOf([&] {
              MeanUpperBound({.values = values, .weights = std::span(weights).first(2)}, {});
            }),
            "weights: 2 numbers; allowed: one for each of the 3 values");
  EXPECT_THROW(MeanLowerBound({.values = values, .max_weight = kInfinity}, {}),
               std::invalid_argument);
  EXPECT_THROW(MeanLowerBound({.values = values}, {.delta = 1.0}), std::invalid_argument);
}

}  // namespace
}  // namespace bregboost
