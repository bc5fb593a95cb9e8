#include "bregboost/problem/rate_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include "bregboost/problem/parser.h"

namespace bregboost {
namespace {

// 0 and 1 by two groups: four rows of (0, a), two of (1, a), three of (0, b), one of (1, b).
RowData SmallRows() {
  RowData rows;
  rows.labels = EncodeColumn("y", {"0", "0", "0", "0", "1", "1", "0", "0", "0", "1"});
  rows.groups = {EncodeColumn("g", {"a", "a", "a", "a", "a", "a", "b", "b", "b", "b"})};
  return rows;
}

// Predicts 1 for the second and third row (false alarms of a), the fifth, and the last.
const std::vector<double> kScores = {-1, 1, 1, -1, 1, -1, -1, -1, -1, 1};

std::vector<Constraint> Parse(const std::vector<std::string>& texts) {
  std::vector<Constraint> constraints;
  for (const std::string& text : texts) constraints.push_back(ParseConstraint(text));
  return constraints;
}

TEST(RateProblem, JudgesByHandCountedRates) {
  const RowData rows = SmallRows();
  const RateProblem problem(Parse({"gap(error, by=g) <= 10%", "fnr <= 50%"}),
                            ParseObjective("accuracy"), rows);
  const std::vector<double> sums = problem.rates().ExactSums(kScores);
  EXPECT_DOUBLE_EQ(problem.ObjectiveValue(sums), 0.7);
  EXPECT_DOUBLE_EQ(problem.Cost(sums), 0.3);
  // Errors: 3 of 6 in a, none in b; one of three positives is missed.
  EXPECT_NEAR(problem.TotalViolation(sums), 0.4, 1e-12);
  EXPECT_NEAR(problem.Merit(sums, 5.0), 0.3 + 5.0 * 0.4, 1e-12);
  EXPECT_EQ(problem.num_constraints(), 2);
  EXPECT_EQ(problem.num_limits(), 3);
  EXPECT_TRUE(problem.names_groups());
  const std::vector<double> excess = problem.Excess(sums);
  EXPECT_NEAR(excess[0], 0.4, 1e-12);   // a - b
  EXPECT_NEAR(excess[1], -0.6, 1e-12);  // b - a
  EXPECT_NEAR(excess[2], 1.0 / 3.0 - 0.5, 1e-12);
}

// The Lagrangian of any predictions is the sum of what the table charges each row.
TEST(RateProblem, CostTableAddsUpToTheLagrangian) {
  const RowData rows = SmallRows();
  for (const char* objective : {"error", "accuracy", "balanced_error", "fnr + 2 * fpr"}) {
    const RateProblem problem(
        Parse({"gap(error, by=g) <= 10%", "selection_rate <= 20%", "precision >= 60%"}),
        ParseObjective(objective), rows);
    std::vector<double> multipliers(problem.num_limits());
    for (std::size_t j = 0; j < multipliers.size(); ++j) {
      multipliers[j] = 0.3 + 0.2 * static_cast<double>(j);
    }
    const std::vector<double> table = problem.CostTable(multipliers);
    const auto charged = [&](const std::vector<double>& scores) {
      double total = 0.0;
      for (std::size_t i = 0; i < scores.size(); ++i) {
        const std::size_t cell = problem.compiled().cells.cell_of_row[i];
        total += table[cell * 2 + (scores[i] > 0.0 ? 1 : 0)] / static_cast<double>(scores.size());
      }
      return total;
    };
    const auto lagrangian = [&](const std::vector<double>& scores) {
      const std::vector<double> sums = problem.rates().ExactSums(scores);
      const std::vector<double> excess = problem.Excess(sums);
      double total = problem.Cost(sums);
      for (std::size_t j = 0; j < excess.size(); ++j) total += multipliers[j] * excess[j];
      return total;
    };
    std::vector<double> other = kScores;
    other[0] = 1.0;
    other[5] = 1.0;
    other[9] = -1.0;
    EXPECT_NEAR(charged(other) - charged(kScores), lagrangian(other) - lagrangian(kScores), 1e-12)
        << objective;
  }
}

TEST(RateProblem, LargestChargeIsAllRowsOverTheSmallestSubset) {
  const RowData rows = SmallRows();
  const RateProblem problem(Parse({"fnr <= 5%", "error(g=b) <= 5%"}), ParseObjective("error"),
                            rows);
  ASSERT_EQ(problem.largest_charges().size(), 2);
  EXPECT_NEAR(problem.largest_charges()[0], 10.0 / 3.0, 1e-12);
  EXPECT_NEAR(problem.largest_charges()[1], 10.0 / 4.0, 1e-12);
}

TEST(RateProblem, GroupsAndBaselineAreTold) {
  RowData rows = SmallRows();
  rows.baseline.assign(10, 0);
  const RateObjective error = ParseObjective("error");
  EXPECT_FALSE(RateProblem(Parse({"fnr <= 5%", "precision >= 1%"}), error, rows).names_groups());
  EXPECT_TRUE(RateProblem(Parse({"churn <= 5%"}), error, rows).names_groups());
  EXPECT_FALSE(RateProblem({}, error, rows).names_groups());
}

TEST(RateProblem, UndefinedRatesHaveNoFiniteMerit) {
  const RowData rows = SmallRows();
  const RateProblem problem(Parse({"precision >= 60%"}), ParseObjective("error"), rows);
  const std::vector<double> none(10, -1.0);
  EXPECT_TRUE(std::isinf(problem.Merit(problem.rates().ExactSums(none), 5.0)));
}

TEST(RateProblem, AllowancesShiftBoundsInTheUsersUnit) {
  const RowData rows = SmallRows();
  const std::vector<std::string> texts = {"gap(error, by=g) <= 10%", "fnr <= 20%",
                                          "precision >= 75%", "ratio(selection_rate, by=g) >= 80%"};
  RateProblem problem(Parse(texts), ParseObjective("error"), rows);
  const std::vector<double> sums = problem.rates().ExactSums(kScores);
  const double precision = 2.0 / 4.0, ratio = (1.0 / 4.0) / (3.0 / 6.0);
  problem.SetAllowances({{0.0, 0.0}, {0.0}, {0.0}, {0.0, 0.0}});
  EXPECT_NEAR(problem.Violation(0, sums), 0.4, 1e-12);
  EXPECT_NEAR(problem.Violation(1, sums), 1.0 / 3.0 - 0.2, 1e-12);
  EXPECT_NEAR(problem.Violation(2, sums), 0.75 - precision, 1e-12);
  EXPECT_NEAR(problem.Violation(3, sums), 0.8 - ratio, 1e-12);
  const std::vector<double> excess = problem.Excess(sums);
  problem.SetAllowances({{0.05, 0.02}, {0.05}, {0.0}, {0.05, 0.02}});
  EXPECT_NEAR(problem.Violation(0, sums), 0.4 - 0.07, 1e-12);
  EXPECT_NEAR(problem.Violation(1, sums), 1.0 / 3.0 - 0.25, 1e-12);
  EXPECT_NEAR(problem.Violation(2, sums), 0.75 - precision, 1e-12);
  EXPECT_NEAR(problem.Violation(3, sums), 0.8 - (0.25 + 0.02) / (0.5 - 0.05), 1e-12);
  const std::vector<double> allowed = problem.Excess(sums);
  EXPECT_NEAR(excess[0] - allowed[0], 0.07, 1e-12);               // a - b
  EXPECT_NEAR(excess[2] - allowed[2], 0.05, 1e-12);               // fnr
  EXPECT_NEAR(excess[4] - allowed[4], 0.8 * 0.05 + 0.02, 1e-12);  // 80% of a - b
  EXPECT_NEAR(excess[5] - allowed[5], 0.8 * 0.02 + 0.05, 1e-12);
  EXPECT_FALSE(problem.Measure(sums)[0].satisfied);
  EXPECT_NEAR(problem.Measure(sums)[0].violation, 0.4, 1e-12);
  EXPECT_THROW(problem.SetAllowances({{0.1}}), std::invalid_argument);
}

TEST(RateProblem, RatiosCountAsWorseByTheirSamplingError) {
  const RowData rows = SmallRows();
  const std::vector<std::string> texts = {"ratio(selection_rate, by=g) >= 20%",
                                          "ratio(selection_rate, by=g) >= 80%",
                                          "gap(selection_rate, by=g) <= 10%", "precision >= 75%"};
  RateProblem problem(Parse(texts), ParseObjective("error"), rows);
  const std::vector<double> sums = problem.rates().ExactSums(kScores);
  const std::vector<double> excess = problem.Excess(sums);
  const double ratio = (1.0 / 4.0) / (3.0 / 6.0), gap = 0.25, precision = 0.5;
  // One of four selected in b, three of six in a.
  const double error = ratio * std::sqrt(0.75 / 0.25 / 4.0 + 0.5 / 0.5 / 6.0);
  for (const double caution : {0.0, 0.5, 2.0}) {
    problem.SetCaution(caution);
    EXPECT_EQ(problem.caution(), caution);
    EXPECT_NEAR(problem.Violation(0, sums), std::max(0.0, 0.2 - ratio + caution * error), 1e-12);
    EXPECT_NEAR(problem.Violation(1, sums), 0.8 - ratio + caution * error, 1e-12);
    EXPECT_NEAR(problem.Violation(2, sums), gap - 0.1, 1e-12);
    EXPECT_NEAR(problem.Violation(3, sums), 0.75 - precision, 1e-12);
    // What multipliers move on, and what reports say, is the ratio as it is.
    EXPECT_EQ(problem.Excess(sums), excess);
    EXPECT_NEAR(problem.Measure(sums)[1].violation, 0.8 - ratio, 1e-12);
  }
  problem.SetAllowances({{0.0, 0.0}, {0.01, 0.0}, {0.0, 0.0}, {0.0}});
  EXPECT_NEAR(problem.Violation(1, sums), 0.8 - 0.25 / 0.49, 1e-12);  // forgiven: no caution
  EXPECT_THROW(problem.SetCaution(-0.1), std::invalid_argument);
  EXPECT_THROW(problem.SetCaution(std::nan("")), std::invalid_argument);
}

TEST(RateProblem, RowsOfARateAreThoseItIsAShareOf) {
  const RowData rows = SmallRows();
  const RateProblem problem(Parse({"ratio(selection_rate, by=g) >= 80%", "fnr <= 20%",
                                   "precision >= 75%", "loss(g=a) <= 1"}),
                            ParseObjective("error"), rows);
  EXPECT_EQ(problem.RowsOfRate(0, 0), 6.0);
  EXPECT_EQ(problem.RowsOfRate(0, 1), 4.0);
  EXPECT_EQ(problem.RowsOfRate(1, 0), 3.0);
  EXPECT_EQ(problem.RowsOfRate(2, 0), 0.0);
  EXPECT_EQ(problem.RowsOfRate(3, 0), 0.0);
}

// Of many drawn samples.
TEST(RatioError, IsWhatRatiosScatterBy) {
  std::mt19937_64 random(1);
  constexpr int kRows = 2000, kDraws = 20'000;
  std::binomial_distribution<int> low(kRows, 0.15), high(kRows, 0.2);
  double sum = 0.0, squares = 0.0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const double ratio = static_cast<double>(low(random)) / static_cast<double>(high(random));
    sum += ratio;
    squares += ratio * ratio;
  }
  const double mean = sum / kDraws;
  const double scatter = std::sqrt(squares / kDraws - mean * mean);
  EXPECT_NEAR(RatioError({0.15, kRows}, {0.2, kRows}) / scatter, 1.0, 0.05);
  EXPECT_EQ(RatioError({0.0, kRows}, {0.2, kRows}), 0.0);
  EXPECT_EQ(RatioError({0.15, 0.0}, {0.2, kRows}), 0.0);
}

TEST(RateProblem, SamplingErrorsAreBinomial) {
  const RowData rows = SmallRows();
  const RateProblem problem(Parse({"gap(error, by=g) <= 10%", "fnr <= 20%"}),
                            ParseObjective("error"), rows);
  const auto largest = problem.LargestSamplingErrors();
  EXPECT_NEAR(largest[0][0], std::sqrt(0.25 / 6), 1e-12);
  EXPECT_NEAR(largest[0][1], std::sqrt(0.25 / 4), 1e-12);
  EXPECT_NEAR(largest[1][0], std::sqrt(0.25 / 3), 1e-12);
  const auto errors = problem.SamplingErrors(problem.rates().ExactSums(kScores));
  // Within a: 2 of 4 negatives and 1 of 2 positives; b has no errors. Misses by group: 1/2 and 0.
  EXPECT_NEAR(errors[0][0], std::sqrt((4 * 0.25 + 2 * 0.25) / 36), 1e-12);
  EXPECT_EQ(errors[0][1], 0.0);
  EXPECT_NEAR(errors[1][0], std::sqrt(2 * 0.25 / 9), 1e-12);
}

TEST(RateProblem, ObjectivesHaveABetterSide) {
  EXPECT_TRUE(ParseObjective("accuracy").maximise);
  EXPECT_TRUE(ParseObjective("recall(class=a) + tnr").maximise);
  EXPECT_FALSE(ParseObjective("balanced_error").maximise);
  for (const char* text : {"selection_rate", "precision", "accuracy - error", "error + accuracy"}) {
    EXPECT_THROW(ParseObjective(text), std::invalid_argument) << text;
  }
}

TEST(RateProblem, RegressionCostsAreLosses) {
  RowData rows;
  rows.targets = {0.0, 1.0, 2.0};
  rows.groups = {EncodeColumn("g", {"a", "b", "b"})};
  const RateProblem problem(Parse({"loss(g=b) <= 0.5"}), ParseObjective("loss"), rows,
                            {.kind = LossKind::kSquared});
  const std::vector<double> sums = problem.rates().ExactSums(std::vector<double>{1.0, 1.0, 0.0});
  EXPECT_DOUBLE_EQ(problem.Cost(sums), (1.0 + 0.0 + 4.0) / 3.0);
  EXPECT_NEAR(problem.TotalViolation(sums), 2.0 - 0.5, 1e-12);
}

}  // namespace
}  // namespace bregboost
