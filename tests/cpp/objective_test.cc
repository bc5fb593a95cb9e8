#include "bregboost/problem/objective.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "finite_differences.h"
#include "random_problems.h"

namespace bregboost {
namespace {

using test::BinaryRows;
using test::FourClassRows;
using test::RandomScores;
using test::RegressionRows;

constexpr auto kRows = ObjectiveWeighting::kRows;
constexpr auto kClassBalanced = ObjectiveWeighting::kClassBalanced;
const LossOptions kSquared{.kind = LossKind::kSquared};
const LossOptions kHuber{.kind = LossKind::kHuber, .huber_delta = 0.6};

using OfRow = std::function<double(std::size_t)>;

double WeightedMean(const RowData& rows, const OfRow& loss,
                    const std::function<bool(std::size_t)>& inside) {
  double total = 0.0, weight = 0.0;
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    if (!inside(i)) continue;
    total += rows.weight(i) * loss(i);
    weight += rows.weight(i);
  }
  return total / weight;
}

bool All(std::size_t) { return true; }

// --- Values ---

TEST(ObjectiveValue, IsTheWeightedMeanOfCrossEntropy) {
  for (const RowData& rows : {BinaryRows(100, 1), FourClassRows(100, 1)}) {
    const std::vector<double> scores = RandomScores(rows, 1.5, 2);
    const auto loss = [&](std::size_t i) {
      return test::CrossEntropyOf(rows, scores, static_cast<std::size_t>(rows.labels.codes[i]), i);
    };
    EXPECT_NEAR(Objective(rows, {}).Evaluate(scores), WeightedMean(rows, loss, All), 1e-12);

    double balanced = 0.0;  // mean over classes of the class's mean
    const std::size_t classes = rows.labels.levels.size();
    for (std::size_t k = 0; k < classes; ++k) {
      const auto of_class = [&](std::size_t i) {
        return rows.labels.codes[i] == static_cast<std::int32_t>(k);
      };
      balanced += WeightedMean(rows, loss, of_class) / static_cast<double>(classes);
    }
    EXPECT_NEAR(Objective(rows, {.weighting = kClassBalanced}).Evaluate(scores), balanced, 1e-12);
  }
}

TEST(ObjectiveValue, IsTheWeightedMeanOfSquaredAndHuber) {
  const RowData rows = RegressionRows(100, 3);
  const std::vector<double> scores = RandomScores(rows, 1.0, 4);
  const auto residual = [&](std::size_t i) { return std::abs(scores[i] - rows.targets[i]); };
  const auto squared = [&](std::size_t i) { return residual(i) * residual(i); };
  const auto huber = [&](std::size_t i) {
    const double r = residual(i);
    return r <= 0.6 ? 0.5 * r * r : 0.6 * (r - 0.3);
  };
  EXPECT_NEAR(Objective(rows, {.loss = kSquared}).Evaluate(scores),
              WeightedMean(rows, squared, All), 1e-12);
  EXPECT_NEAR(Objective(rows, {.loss = kHuber}).Evaluate(scores), WeightedMean(rows, huber, All),
              1e-12);
}

TEST(ObjectiveValue, OfGuessingIsLogK) {
  const RowData binary = BinaryRows(50, 5), four = FourClassRows(50, 5);
  EXPECT_NEAR(Objective(binary, {}).Evaluate(std::vector<double>(50)), std::log(2.0), 1e-14);
  EXPECT_NEAR(Objective(four, {}).Evaluate(std::vector<double>(200)), std::log(4.0), 1e-14);
}

TEST(ObjectiveValue, ClassBalancedCountsClassesWithWeight) {
  RowData rows = FourClassRows(60, 6);
  for (std::size_t i = 0; i < 60; ++i) {
    if (rows.labels.codes[i] == 2) rows.weights[i] = 0.0;     // class c weighs nothing
    if (rows.labels.codes[i] == 3) rows.labels.codes[i] = 1;  // class d has no rows
  }
  EXPECT_NEAR(Objective(rows, {.weighting = kClassBalanced}).Evaluate(std::vector<double>(240)),
              std::log(4.0), 1e-14);
}

// The weights of the rates are another matter.
TEST(ObjectiveValue, IgnoresRateWeights) {
  RowData rows = BinaryRows(60, 7);
  const std::vector<double> scores = RandomScores(rows, 1.0, 8);
  const double before = Objective(rows, {}).Evaluate(scores);
  rows.rate_weights.assign(60, 1.0);
  EXPECT_EQ(Objective(rows, {}).Evaluate(scores), before);
}

TEST(ObjectiveValue, NaNScoresAreNotHidden) {
  for (const RowData& rows : {BinaryRows(30, 9), FourClassRows(30, 9), RegressionRows(30, 9)}) {
    const bool regression = rows.task() == Task::kRegression;
    const Objective objective(rows, {.loss = regression ? kHuber : LossOptions{}});
    for (std::size_t k = 0; k < rows.num_scores(); ++k) {
      std::vector<double> scores = RandomScores(rows, 1.0, 10);
      scores[k * 30 + 11] = std::numeric_limits<double>::quiet_NaN();
      EXPECT_TRUE(std::isnan(objective.Evaluate(scores)));
    }
  }
}

// --- Derivatives ---

// Runs `check(objective, rows)` for every task, loss and weighting.
void ForEveryObjective(const std::function<void(const Objective&, const RowData&)>& check) {
  for (const ObjectiveWeighting weighting : {kRows, kClassBalanced}) {
    for (const RowData& rows : {BinaryRows(40, 11), FourClassRows(40, 12)}) {
      SCOPED_TRACE(rows.labels.levels.size());
      check(Objective(rows, {.weighting = weighting}), rows);
    }
  }
  const RowData rows = RegressionRows(40, 13);
  for (const LossOptions& loss : {kSquared, kHuber}) {
    SCOPED_TRACE(Name(loss.kind));
    check(Objective(rows, {.loss = loss}), rows);
  }
}

test::Function Scaled(const Objective& objective, double scale) {
  return [&objective, scale](std::span<const double> scores, std::span<double> gradient,
                             std::span<double> hessian) {
    return objective.AddDerivatives(scores, scale, gradient, hessian);
  };
}

TEST(ObjectiveDerivatives, AgreeWithCentralDifferences) {
  ForEveryObjective([](const Objective& objective, const RowData& rows) {
    test::ExpectGradient(Scaled(objective, 1.0), RandomScores(rows, 1.5, 14));
  });
}

TEST(ObjectiveDerivatives, DiagonalBoundsTheHessian) {
  ForEveryObjective([](const Objective& objective, const RowData& rows) {
    const double tightest =
        test::ExpectHessianBound(Scaled(objective, 1.0), RandomScores(rows, 1.5, 15), 40, 16);
    EXPECT_GT(tightest, rows.num_scores() == 1 ? 1.0 - 1e-4 : 0.5);  // exact with one score per row
  });
}

TEST(ObjectiveDerivatives, ScaleValueGradientAndHessian) {
  ForEveryObjective([](const Objective& objective, const RowData& rows) {
    const std::vector<double> scores = RandomScores(rows, 1.0, 17);
    std::vector<double> g1(scores.size(), 0.0), h1 = g1, g3 = g1, h3 = g1;
    const double once = objective.AddDerivatives(scores, 1.0, g1, h1);
    const double thrice = objective.AddDerivatives(scores, 3.0, g3, h3);
    EXPECT_NEAR(once, objective.Evaluate(scores), 1e-12);
    EXPECT_NEAR(thrice, 3.0 * once, 1e-12);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      EXPECT_NEAR(g3[i], 3.0 * g1[i], 1e-14);
      EXPECT_NEAR(h3[i], 3.0 * h1[i], 1e-14);
    }
  });
}

// The gradient of a mean: moving all scores by one moves the squared loss by 2 mean(r) + 1.
TEST(ObjectiveDerivatives, AreThoseOfAMean) {
  const RowData rows = RegressionRows(5000, 18);
  const Objective objective(rows, {.loss = kSquared});
  const std::vector<double> scores = RandomScores(rows, 1.0, 19);
  std::vector<double> gradient(5000, 0.0), hessian(5000, 0.0);
  const double before = objective.AddDerivatives(scores, 1.0, gradient, hessian);
  const double slope = std::accumulate(gradient.begin(), gradient.end(), 0.0);
  EXPECT_NEAR(std::accumulate(hessian.begin(), hessian.end(), 0.0), 2.0, 1e-12);
  const double after = objective.Evaluate(test::Moved(scores, std::vector<double>(5000, 1.0), 1.0));
  EXPECT_NEAR(after - before, slope + 1.0, 1e-12);
}

// Weights against repeated rows, row order and threads: rate_constraints_test.cc, both weightings
// sharing the pass; here only what balancing adds.
TEST(ObjectiveDerivatives, ClassBalancedWeightOfTwoEqualsARepeatedRow) {
  RowData rows = FourClassRows(30, 20), repeated = rows;
  rows.weights.assign(30, 1.0);
  rows.weights[4] = 2.0;
  repeated.weights.clear();
  repeated.rate_weights.clear();
  repeated.baseline.clear();
  repeated.groups.clear();
  repeated.labels.codes.push_back(rows.labels.codes[4]);
  const std::vector<double> scores = RandomScores(rows, 1.0, 21);
  std::vector<double> longer;
  for (std::size_t k = 0; k < 4; ++k) {
    longer.insert(longer.end(), scores.begin() + static_cast<std::ptrdiff_t>(k) * 30,
                  scores.begin() + static_cast<std::ptrdiff_t>(k + 1) * 30);
    longer.push_back(scores[k * 30 + 4]);
  }
  const ObjectiveOptions options{.weighting = kClassBalanced};
  const Objective weighted(rows, options), twice(repeated, options);
  EXPECT_NEAR(weighted.Evaluate(scores), twice.Evaluate(longer), 1e-14);
  const auto one = test::GradientAt(Scaled(weighted, 1.0), scores);
  const auto two = test::GradientAt(Scaled(twice, 1.0), longer);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(one[k * 30 + 4], two[k * 31 + 4] + two[k * 31 + 30], 1e-14);
    EXPECT_NEAR(one[k * 30 + 5], two[k * 31 + 5], 1e-14);
  }
}

// --- Bad input ---

void ExpectError(const std::function<void()>& call, const std::string& message) {
  try {
    call();
    FAIL() << "no error; expected: " << message;
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(error.what(), message);
  }
}

TEST(ObjectiveError, LossThatDoesNotFitTheTarget) {
  const RowData binary = BinaryRows(10, 22), numeric = RegressionRows(10, 22);
  ExpectError([&] { Objective(binary, {.loss = kSquared}); },
              "loss: 'squared' on a class label; allowed: cross_entropy");
  ExpectError([&] { Objective(binary, {.loss = kHuber}); },
              "loss: 'huber' on a class label; allowed: cross_entropy");
  ExpectError([&] { Objective(numeric, {}); },
              "loss: 'cross_entropy' on a numeric target; allowed: squared, huber");
}

TEST(ObjectiveError, OptionsAndRowsAreValidated) {
  RowData rows = RegressionRows(10, 23);
  ExpectError([&] { Objective(rows, {.loss = {.kind = LossKind::kHuber, .huber_delta = -1.0}}); },
              "huber_delta: -1; allowed: a finite number above 0");
  rows.weights[2] = -1.0;
  ExpectError([&] { Objective(rows, {.loss = kHuber}); },
              "weights: value -1 in row 2; allowed: finite and at least 0");
}

TEST(ObjectiveError, SizesOfArguments) {
  const RowData rows = FourClassRows(10, 24);
  const Objective objective(rows, {});
  std::vector<double> forty(40, 0.0), ten(10, 0.0);
  const std::string allowed = ": 10 values; allowed: 40, one for each row and class";
  ExpectError([&] { objective.Evaluate(ten); }, "scores" + allowed);
  ExpectError([&] { objective.AddDerivatives(ten, 1.0, forty, {}); }, "scores" + allowed);
  ExpectError([&] { objective.AddDerivatives(forty, 1.0, ten, {}); }, "gradient" + allowed);
  ExpectError([&] { objective.AddDerivatives(forty, 1.0, forty, ten); }, "hessian" + allowed);
}

TEST(Objective, KnowsItsRowsAndSurvivesAMove) {
  const RowData rows = BinaryRows(20, 25);
  const std::vector<double> scores = RandomScores(rows, 1.0, 26);
  Objective first(rows, {.weighting = kClassBalanced});
  const double before = first.Evaluate(scores);
  const Objective second = std::move(first);
  EXPECT_EQ(second.Evaluate(scores), before);
  EXPECT_EQ(&second.rows(), &rows);
  EXPECT_EQ(second.options(), (ObjectiveOptions{.weighting = kClassBalanced}));
}

TEST(Objective, ClassBalanceNeedsClasses) {
  const RowData rows = RegressionRows(10, 24);
  EXPECT_THROW(Objective(rows, {.loss = kHuber, .weighting = ObjectiveWeighting::kClassBalanced}),
               std::invalid_argument);
}

}  // namespace
}  // namespace bregboost
