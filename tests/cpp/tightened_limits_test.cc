#include "solve/detail/tightened_limits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "bregboost/problem/parser.h"

namespace bregboost::detail {
namespace {

constexpr std::size_t kRows = 400;  // of each of two groups, every second a positive

RowData TwoGroups() {
  std::vector<std::string> labels, groups;
  for (std::size_t i = 0; i < 2 * kRows; ++i) {
    labels.emplace_back(i % 2 == 0 ? "0" : "1");
    groups.emplace_back(i < kRows ? "a" : "b");
  }
  RowData rows;
  rows.labels = EncodeColumn("y", labels);
  rows.groups = {EncodeColumn("g", groups)};
  return rows;
}

// In each group, this share of the rows of either label is selected.
std::vector<double> Selecting(double in_a, double in_b) {
  std::vector<double> scores;
  for (const double share : {in_a, in_b}) {
    for (std::size_t i = 0; i < kRows; ++i) {
      scores.push_back(static_cast<double>(i / 2) + 0.5 < share * kRows / 2.0 ? 1.0 : -1.0);
    }
  }
  return scores;
}

// What the one limit is tightened by when the selected shares go from `before` to `after`.
std::vector<double> Tightening(const std::string& limit, double margin,
                               const std::vector<double>& before,
                               const std::vector<double>& after) {
  const RowData rows = TwoGroups();
  const RateProblem problem({ParseConstraint(limit)}, ParseObjective("error"), rows);
  const std::vector<double> sums = problem.rates().ExactSums(before);
  std::vector<double> shift = problem.rates().ExactSums(after);
  for (std::size_t i = 0; i < shift.size(); ++i) shift[i] -= sums[i];
  std::vector<double> tightened =
      TightenedLimits(problem, margin, sums).Allowances(problem, sums, shift).front();
  for (double& allowance : tightened) allowance = 0.0 - allowance;
  return tightened;
}

void ExpectNear(const std::vector<double>& values, const std::vector<double>& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-12);
}

// The variance of a share p of n rows is p (1 - p) / n, and groups that are compared add theirs.
TEST(TightenedLimits, WithoutAShiftTheMarginIsAShareOfTheStandardError) {
  const std::vector<double> scores = Selecting(0.2, 0.5);
  const double of_a = 0.2 * 0.8 / kRows, of_b = 0.5 * 0.5 / kRows;
  ExpectNear(Tightening("gap(selection_rate, by=g) <= 90%", 0.5, scores, scores),
             {0.25 * std::sqrt(of_a + of_b), 0.25 * std::sqrt(of_a + of_b)});
  ExpectNear(Tightening("max(selection_rate, by=g) <= 90%", 0.5, scores, scores),
             {0.5 * std::sqrt(of_a), 0.5 * std::sqrt(of_b)});
  ExpectNear(Tightening("selection_rate <= 90%", 2.0, scores, scores),
             {2.0 * std::sqrt(0.35 * 0.65 / (2.0 * kRows))});  // groups are not told apart
}

TEST(TightenedLimits, AShiftForTheWorseIsAdded) {
  const std::vector<double> before = Selecting(0.2, 0.5);
  ExpectNear(Tightening("gap(selection_rate, by=g) <= 90%", 0.0, before, Selecting(0.15, 0.55)),
             {0.05, 0.05});
  ExpectNear(Tightening("ratio(selection_rate, by=g) >= 10%", 0.0, before, Selecting(0.15, 0.55)),
             {0.05, 0.05});
  ExpectNear(Tightening("max(selection_rate, by=g) <= 90%", 0.0, before, Selecting(0.25, 0.7)),
             {0.05, 0.2});
  ExpectNear(Tightening("selection_rate >= 10%", 0.0, before, Selecting(0.1, 0.5)), {0.05});
  ExpectNear(Tightening("tpr >= 10%", 0.0, before, Selecting(0.1, 0.5)), {0.05});
}

TEST(TightenedLimits, AShiftForTheBetterUsesUpTheMarginAndNoMore) {
  const std::vector<double> before = Selecting(0.2, 0.5);
  const double error = std::sqrt(0.2 * 0.8 / kRows + 0.5 * 0.5 / kRows);
  ExpectNear(Tightening("gap(selection_rate, by=g) <= 90%", 1.0, before, Selecting(0.21, 0.5)),
             {0.5 * (error - 0.01), 0.5 * (error - 0.01)});
  ExpectNear(Tightening("gap(selection_rate, by=g) <= 90%", 1.0, before, Selecting(0.4, 0.5)),
             {0.0, 0.0});
  ExpectNear(Tightening("selection_rate <= 90%", 0.0, before, Selecting(0.1, 0.4)), {0.0});
}

// A limit that asks for the impossible says nothing about what to do.
TEST(TightenedLimits, HalfOfWhatTheLimitLeavesIsTheMost) {
  const std::vector<double> scores = Selecting(0.2, 0.5);
  ExpectNear(Tightening("gap(selection_rate, by=g) <= 1%", 5.0, scores, scores), {0.0025, 0.0025});
  // Rates of 0.5 and 0.4 would do: half of what lies between them, by two groups.
  ExpectNear(Tightening("ratio(selection_rate, by=g) >= 80%", 5.0, scores, scores), {0.025, 0.025});
  ExpectNear(Tightening("fnr <= 4%", 5.0, scores, scores), {0.02});
  ExpectNear(Tightening("tpr >= 96%", 5.0, scores, scores), {0.02});
  ExpectNear(Tightening("fnr - fpr <= 0%", 50.0, scores, scores), {0.5});  // at best -1
  ExpectNear(Tightening("fnr <= 0%", 5.0, scores, scores), {0.0});
}

// A sweep of bounds takes the margins of the training on to bounds that leave less.
TEST(TightenedLimits, MarginsOfAnotherBoundAreCut) {
  const RowData rows = TwoGroups();
  const RateProblem problem({ParseConstraint("gap(fnr, by=g) <= 2%"), ParseConstraint("fpr <= 1%")},
                            ParseObjective("error"), rows);
  const std::vector<double> sums = problem.rates().ExactSums(Selecting(0.2, 0.5));
  const std::vector<std::vector<double>> within =
      WithinRoom(problem, sums, {{-0.02, -0.001}, {0.3}});
  ExpectNear(within[0], {-0.005, -0.001});
  ExpectNear(within[1], {0.3});
  EXPECT_TRUE(WithinRoom(problem, sums, {}).empty());
}

TEST(TightenedLimits, RatesThatAreUndefinedChangeNothing) {
  ExpectNear(Tightening("precision >= 10%", 0.5, Selecting(0.2, 0.5), Selecting(0.0, 0.0)), {0.0});
  ExpectNear(Tightening("precision >= 10%", 0.5, Selecting(0.0, 0.0), Selecting(0.2, 0.5)), {0.0});
}

TEST(TightenedLimits, ForgivenSamplingErrorStaysAsItIs) {
  const RowData rows = TwoGroups();
  RateProblem problem({ParseConstraint("max(fnr, by=g) <= 90%"), ParseConstraint("fpr <= 90%")},
                      ParseObjective("error"), rows);
  problem.SetAllowances({{0.125, 0.0}, {0.0}});
  const std::vector<double> sums = problem.rates().ExactSums(Selecting(0.2, 0.5));
  const std::vector<std::vector<double>> allowances =
      TightenedLimits(problem, 1.0, sums).Allowances(problem, sums, {});
  ASSERT_EQ(allowances.size(), 2);
  EXPECT_EQ(allowances[0][0], 0.125);
  EXPECT_NEAR(allowances[0][1], -std::sqrt(0.5 * 0.5 / (kRows / 2.0)), 1e-12);
  EXPECT_LT(allowances[1][0], 0.0);
}

}  // namespace
}  // namespace bregboost::detail
