// Prices against the truth of generated problems, and against differences of the best cost.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "bregboost/calibrate/prices.h"
#include "calibrate_problems.h"

namespace bregboost {
namespace {

std::vector<Price> PricesOf(const Calibrator& calibrator, const RateProblem& problem,
                            const CalibrationOptions& options) {
  return FindPrices(calibrator, problem, calibrator.Solve(problem, options));
}

using test::Random;
using test::ScoredRows;

double Density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi); }
double Above(double x) { return 0.5 * std::erfc(x / std::numbers::sqrt2); }  // P(N > x)

// The x where a falling function is `target`.
template <class Function>
double Solve(const Function& falling, double target, double low = -10.0, double high = 10.0) {
  for (int step = 0; step < 40; ++step) {
    const double middle = 0.5 * (low + high);
    (falling(middle) > target ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

// Insists on the bounds, so that the merit's optimum is the constrained one.
const CalibrationOptions kInsist{.rho = 50.0, .seed = 0, .fit_temperature = true};

// The cost saved per point when the bound of `constraint` moves from b - h to b + h.
double FiniteDifference(const Calibrator& calibrator, const RateProblem& problem,
                        std::size_t constraint, double h) {
  const auto cost = [&](double change) {
    std::vector<Constraint> limits = problem.constraints();
    limits[constraint].bound += change;
    return calibrator.Solve(RateProblem(limits, problem.objective(), problem.rows()), kInsist).cost;
  };
  const double sign = problem.constraints()[constraint].relation == Relation::kAtMost ? 1.0 : -1.0;
  return sign * (cost(-h) - cost(h)) / (2.0 * h);
}

// Within 30% of the truth and of the difference, and within five of its own standard errors.
void ExpectPrice(const Price& price, double truth, double difference) {
  EXPECT_TRUE(price.binding);
  EXPECT_NEAR(price.price / truth, 1.0, 0.3) << price.text;
  EXPECT_NEAR(price.price / difference, 1.0, 0.3) << price.text;
  EXPECT_GT(price.standard_error, 0.0);
  EXPECT_LT(price.standard_error, 0.15 * truth);
  EXPECT_NEAR(price.price, truth, 5.0 * price.standard_error + 0.05 * truth) << price.text;
}

// Two Gaussians at 0 and 2, a third of the rows positive, scores the true log-odds.
TEST(Prices, MissesOfTwoGaussians) {
  constexpr std::size_t kRows = 1'000'000;
  constexpr double kApart = 2.0, kPositive = 1.0 / 3.0, kBound = 0.1;
  Random random(1);
  std::normal_distribution<double> normal;
  ScoredRows data;
  data.rows.labels = {.name = "y", .levels = {"0", "1"}, .codes = {}};
  for (std::size_t i = 0; i < kRows; ++i) {
    const bool positive = random() % 3 == 0;
    const double x = normal(random) + (positive ? kApart : 0.0);
    data.rows.labels.codes.push_back(positive ? 1 : 0);
    data.scores.push_back(kApart * (x - 0.5 * kApart) + std::log(kPositive / (1.0 - kPositive)));
  }
  // Misses P(N < t - 2) = b fix the threshold t; the cost is a third of b and two thirds of the
  // false alarms P(N > t).
  const double t = -Solve([&](double u) { return Above(u + kApart); }, kBound);
  const double truth = (1.0 - kPositive) * Density(t) / Density(t - kApart) - kPositive;
  const Calibrator calibrator(data.scores, data.rows);
  const RateProblem problem(test::ParseAll({"fnr <= 10%", "fpr <= 90%"}),
                            ParseObjective("accuracy"), data.rows);
  const std::vector<Price> prices = PricesOf(calibrator, problem, kInsist);
  ExpectPrice(prices[0], truth, FiniteDifference(calibrator, problem, 0, 0.01));
  EXPECT_FALSE(prices[1].binding);
  EXPECT_EQ(prices[1].price, 0.0);
}

// As many alerts as the budget allows, from two groups of different densities.
TEST(Prices, SelectionBudgetOverTwoGroups) {
  constexpr std::size_t kRows = 1'000'000;
  constexpr std::array kApart = {1.0, 2.5}, kPositive = {0.5, 0.25}, kShift = {0.0, -0.5};
  Random random(2);
  std::normal_distribution<double> normal;
  ScoredRows data;
  data.rows.labels = {.name = "y", .levels = {"0", "1"}, .codes = {}};
  data.rows.groups = {{.name = "g", .levels = {"a", "b"}, .codes = {}}};
  for (std::size_t i = 0; i < kRows; ++i) {
    const std::size_t g = random() % 4 == 0 ? 1 : 0;
    const bool positive = random() % (g == 0 ? 2 : 4) == 0;
    data.rows.labels.codes.push_back(positive ? 1 : 0);
    data.rows.groups[0].codes.push_back(static_cast<std::int32_t>(g));
    data.scores.push_back(normal(random) + kShift[g] + (positive ? kApart[g] : 0.0));
  }
  constexpr std::array kShare = {0.75, 0.25};
  const auto sum = [&](double positives, double negatives, const auto& of) {
    double total = 0.0;
    for (std::size_t g = 0; g < 2; ++g) {
      total += kShare[g] * (positives * kPositive[g] * of(-kShift[g] - kApart[g]) +
                            negatives * (1.0 - kPositive[g]) * of(-kShift[g]));
    }
    return total;
  };
  const double t = Solve(
      [&](double u) { return sum(1.0, 1.0, [&](double shift) { return Above(u + shift); }); }, 0.2);
  const auto density = [&](double shift) { return Density(t + shift); };
  const double all_positive = sum(1.0, 0.0, [](double) { return 1.0; });
  const double truth = sum(1.0, 0.0, density) / sum(1.0, 1.0, density) / all_positive;
  const Calibrator calibrator(data.scores, data.rows);
  const RateProblem problem(test::ParseAll({"selection_rate <= 20%", "error(g=b) <= 90%"}),
                            ParseObjective("tpr"), data.rows);
  const std::vector<Price> prices = PricesOf(calibrator, problem, kInsist);
  ExpectPrice(prices[0], truth, FiniteDifference(calibrator, problem, 0, 0.01));
  EXPECT_FALSE(prices[1].binding);
}

// Three Gaussians of the plane; rates by quadrature over a grid.
class ThreeGaussians {
 public:
  static constexpr std::array<double, 3> kShare = {0.5, 0.25, 0.25};
  static constexpr std::array<std::array<double, 2>, 3> kMeans = {
      {{0.0, 0.0}, {2.0, 0.0}, {0.5, 1.8}}};

  // log(share * density) of each class, up to a constant.
  static std::array<double, 3> Scores(double x, double y) {
    std::array<double, 3> scores{};
    for (std::size_t k = 0; k < 3; ++k) {
      const double dx = x - kMeans[k][0], dy = y - kMeans[k][1];
      scores[k] = std::log(kShare[k]) - 0.5 * (dx * dx + dy * dy);
    }
    return scores;
  }

  ThreeGaussians() {
    constexpr double kStep = 0.05;
    for (double x = -5.0; x <= 7.0; x += kStep) {
      for (double y = -5.0; y <= 7.0; y += kStep) {
        Point point{.scores = Scores(x, y), .mass = {}};
        for (std::size_t k = 0; k < 3; ++k) {
          point.mass[k] =
              std::exp(point.scores[k]) / kShare[k] * kStep * kStep / (2.0 * std::numbers::pi);
        }
        points_.push_back(point);
      }
    }
  }

  // Errors of the classes when the multipliers of classes 1 and 2 are these: the best decision
  // charges share + multiplier for an error.
  std::array<double, 3> Errors(double first, double second) const {
    const std::array<double, 3> offsets = {0.0, std::log1p(first / kShare[1]),
                                           std::log1p(second / kShare[2])};
    std::array<double, 3> errors{};
    for (const Point& point : points_) {
      std::size_t top = 0;
      for (std::size_t k = 1; k < 3; ++k) {
        if (point.scores[k] + offsets[k] > point.scores[top] + offsets[top]) top = k;
      }
      for (std::size_t k = 0; k < 3; ++k) errors[k] += k == top ? 0.0 : point.mass[k];
    }
    return errors;
  }

 private:
  struct Point {
    std::array<double, 3> scores, mass;
  };
  std::vector<Point> points_;
};

TEST(Prices, TwoClassErrorsOfThreeGaussians) {
  constexpr std::size_t kRows = 1'000'000;
  Random random(3);
  std::normal_distribution<double> normal;
  ScoredRows data;
  data.rows.labels = {.name = "y", .levels = {"a", "b", "c"}, .codes = {}};
  data.scores.resize(3 * kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    const std::size_t draw = random() % 4, label = draw < 2 ? 0 : draw - 1;
    data.rows.labels.codes.push_back(static_cast<std::int32_t>(label));
    const std::array<double, 3> scores =
        ThreeGaussians::Scores(ThreeGaussians::kMeans[label][0] + normal(random),
                               ThreeGaussians::kMeans[label][1] + normal(random));
    for (std::size_t k = 0; k < 3; ++k) data.scores[k * kRows + i] = scores[k];
  }
  // The multipliers that bring both errors to their bounds, one inside the other.
  const ThreeGaussians truth;
  const auto second_given = [&](double first) {
    return Solve([&](double second) { return truth.Errors(first, second)[2]; }, 0.25, 0.0, 5.0);
  };
  double first = 0.1;
  for (int round = 0; round < 30; ++round) {
    const double second = second_given(first);
    first = Solve([&](double f) { return truth.Errors(f, second)[1]; }, 0.2, 0.0, 5.0);
  }
  const Calibrator calibrator(data.scores, data.rows);
  const RateProblem problem(
      test::ParseAll({"error(class=b) <= 20%", "error(class=c) <= 25%", "error(class=a) <= 90%"}),
      ParseObjective("error"), data.rows);
  const std::vector<Price> prices = PricesOf(calibrator, problem, kInsist);
  ExpectPrice(prices[0], first, FiniteDifference(calibrator, problem, 0, 0.01));
  ExpectPrice(prices[1], second_given(first), FiniteDifference(calibrator, problem, 1, 0.01));
  EXPECT_EQ(prices[2].price, 0.0);
}

// No truth in closed form, but the price must be the slope of the frontier: floors and gaps.
TEST(Prices, FollowTheFrontierOfFloorsAndGaps) {
  ScoredRows data;
  constexpr std::size_t kRows = 300'000;
  Random random(4);
  data.rows.labels = test::RandomColumn("y", {"0", "1"}, kRows, random);
  data.rows.groups = {test::RandomColumn("g", {"a", "b"}, kRows, random)};
  data.scores = test::RandomNormal(kRows, 1.0, random);
  for (std::size_t i = 0; i < kRows; ++i) {
    const bool in_b = data.rows.groups[0].codes[i] == 1;
    if (data.rows.labels.codes[i] == 1) data.scores[i] += in_b ? 1.2 : 2.5;
    if (in_b) data.scores[i] += 0.4;
  }
  const Calibrator calibrator(data.scores, data.rows);
  for (const char* text : {"precision >= 92%", "tpr >= 90%", "gap(fpr, by=g) <= 4%",
                           "ratio(selection_rate, by=g) >= 99%"}) {
    const RateProblem problem(test::ParseAll({text}), ParseObjective("error"), data.rows);
    const std::vector<Price> prices = PricesOf(calibrator, problem, kInsist);
    const double difference = FiniteDifference(calibrator, problem, 0, 0.005);
    EXPECT_GT(difference, 0.0) << text;
    EXPECT_NEAR(prices[0].price / difference, 1.0, 0.3) << text;
  }
}

TEST(Prices, BrokenAndUndefinedConstraints) {
  const ScoredRows data = test::RandomScoredRows({"no", "yes"}, 5000, false, false, 8);
  const Calibrator calibrator(data.scores, data.rows);
  // No threshold meets both; the merit gives up the one that is cheaper to break.
  const RateProblem infeasible(test::ParseAll({"fnr <= 2%", "fpr <= 50%"}), ParseObjective("error"),
                               data.rows);
  const std::vector<Price> prices = PricesOf(calibrator, infeasible, {.rho = 0.2});
  EXPECT_GT(calibrator.Solve(infeasible, {.rho = 0.2}).total_violation, 0.05);
  EXPECT_EQ(prices[0].price, 0.2);
  EXPECT_EQ(prices[0].standard_error, 0.0);
  RowData one_class = data.rows;
  for (std::int32_t& code : one_class.labels.codes) code = 0;
  const RateProblem undefined(test::ParseAll({"fnr <= 2%"}), ParseObjective("error"), one_class, {},
                              EmptySubsetPolicy::kUndefined);
  const std::vector<Price> none = PricesOf(Calibrator(data.scores, one_class), undefined, {});
  EXPECT_EQ(none[0].price, 0.0);
  EXPECT_FALSE(none[0].binding);
}

// By a row or by many: what the merit charges.
TEST(Prices, OfBrokenLimitsAreRho) {
  int broken = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const ScoredRows data = test::RandomScoredRows({"a", "b", "c", "d"}, 200, false, false, seed);
    const RateProblem problem(test::ParseAll({"error(class=a) <= 20%", "error(class=b) <= 20%",
                                              "error(class=c) <= 20%", "error(class=d) <= 20%"}),
                              ParseObjective("accuracy"), data.rows);
    const Calibrator calibrator(data.scores, data.rows);
    const Calibration decision = calibrator.Solve(problem, {.rho = 3.0});
    const std::vector<Price> prices = FindPrices(calibrator, problem, decision);
    for (std::size_t c = 0; c < prices.size(); ++c) {
      if (decision.measurements[c].satisfied) continue;
      ++broken;
      EXPECT_TRUE(prices[c].binding);
      EXPECT_EQ(prices[c].price, 3.0);
      EXPECT_EQ(prices[c].standard_error, 0.0);
    }
  }
  EXPECT_GT(broken, 10);
}

}  // namespace
}  // namespace bregboost
