// Problems whose bounds were moved answer like problems that were compiled with those bounds.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bregboost/problem/constraint_error.h"
#include "bregboost/problem/rate_problem.h"
#include "random_problems.h"

namespace bregboost {
namespace {

using test::ParseAll;
using test::RandomScores;

struct Case {
  RowData rows;
  std::vector<std::string> texts;
  std::string objective = "accuracy";
  LossOptions loss = {};
};

// Class bounds, gaps, ratios, precision, other aggregates, arithmetic, losses; one by one, so that
// none hides another, and all together.
std::vector<Case> Cases() {
  const std::vector<std::string> binary = {"fnr <= 30%",
                                           "tpr >= 40%",
                                           "selection_rate >= 20%",
                                           "precision >= 60%",
                                           "disagreement <= 20%",
                                           "gap(fnr, by=(sex, race)) <= 5%",
                                           "ratio(selection_rate, by=race) >= 80%",
                                           "max(error, by=sex) <= 40%",
                                           "min(accuracy, by=race) >= 45%",
                                           "gap(loss, by=sex) <= 0.05",
                                           "fnr(sex=F) - 2 * fpr(sex=M) + 0.5 * loss <= 10%"};
  const std::vector<std::string> four_classes = {
      "error(class=b, sex=F) <= 30%",
      "precision(predicted=c) >= 60%",
      "balanced_error <= 50%",
      "gap(selection_rate(predicted=b), by=sex) <= 5%",
      "ratio(recall(class=a), by=sex) >= 80%",
      "accuracy + selection_rate(predicted=c, sex=F) - 0.3 * loss(class=a) >= 60%"};
  const std::vector<std::string> regression = {"loss(sex=F) <= 0.5", "gap(loss, by=race) <= 0.05",
                                               "loss(sex=F) - 2 * loss(sex=M) <= 0.1"};
  std::vector<Case> cases;
  const auto add = [&](const RowData& rows, const std::vector<std::string>& texts,
                       const std::string& objective, const LossOptions& loss) {
    for (const std::string& text : texts) cases.push_back({rows, {text}, objective, loss});
    cases.push_back({rows, texts, objective, loss});
  };
  add(test::BinaryRows(200, 1), binary, "accuracy", {});
  add(test::FourClassRows(300, 2), four_classes, "balanced_error", {});
  add(test::RegressionRows(100, 3), regression, "loss", {.kind = LossKind::kSquared});
  return cases;
}

void ExpectEqual(const SparseRow& a, const SparseRow& b) {
  EXPECT_EQ(a.entries, b.entries);
  EXPECT_EQ(a.constant, b.constant);
}

void ExpectEqual(const CompiledConstraints& a, const CompiledConstraints& b) {
  EXPECT_EQ(a.cells.cell_of_row, b.cells.cell_of_row);
  EXPECT_EQ(a.cells.metric_weight, b.cells.metric_weight);
  EXPECT_EQ(a.slots, b.slots);
  EXPECT_EQ(a.bounds, b.bounds);
  EXPECT_EQ(a.single_rate, b.single_rate);
  EXPECT_EQ(Eigen::MatrixXd(a.matrix), Eigen::MatrixXd(b.matrix));
  ASSERT_EQ(a.constraints.size(), b.constraints.size());
  for (std::size_t c = 0; c < a.constraints.size(); ++c) {
    EXPECT_EQ(a.constraints[c].source, b.constraints[c].source);
    EXPECT_EQ(a.constraints[c].first_row, b.constraints[c].first_row);
    EXPECT_EQ(a.constraints[c].num_rows, b.constraints[c].num_rows);
    ASSERT_EQ(a.constraints[c].rates.size(), b.constraints[c].rates.size());
    for (std::size_t r = 0; r < a.constraints[c].rates.size(); ++r) {
      EXPECT_EQ(a.constraints[c].rates[r].group, b.constraints[c].rates[r].group);
      ExpectEqual(a.constraints[c].rates[r].value, b.constraints[c].rates[r].value);
      ExpectEqual(a.constraints[c].rates[r].denominator, b.constraints[c].rates[r].denominator);
    }
  }
}

void ExpectEqual(const std::vector<Measurement>& a, const std::vector<Measurement>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t c = 0; c < a.size(); ++c) {
    EXPECT_EQ(a[c].text, b[c].text);
    EXPECT_EQ(a[c].value, b[c].value);
    EXPECT_EQ(a[c].violation, b[c].violation);
    EXPECT_EQ(a[c].satisfied, b[c].satisfied);
    EXPECT_EQ(a[c].groups, b[c].groups);
  }
}

void ExpectSameAnswers(const RateProblem& a, const RateProblem& b, std::uint64_t seed) {
  ExpectEqual(a.compiled(), b.compiled());
  EXPECT_EQ(a.constraints(), b.constraints());
  EXPECT_EQ(a.num_limits(), b.num_limits());
  EXPECT_EQ(a.names_groups(), b.names_groups());
  EXPECT_TRUE(a.allowances().empty());
  EXPECT_TRUE(std::equal(a.largest_charges().begin(), a.largest_charges().end(),
                         b.largest_charges().begin(), b.largest_charges().end()));
  EXPECT_EQ(a.LargestSamplingErrors(), b.LargestSamplingErrors());
  EXPECT_EQ(a.rates().LipschitzBound(), b.rates().LipschitzBound());

  const std::vector<double> scores = RandomScores(a.rows(), 1.0, seed);
  const std::vector<double> sums = b.rates().ExactSums(scores);
  EXPECT_EQ(a.rates().ExactSums(scores), sums);
  EXPECT_EQ(a.ObjectiveValue(sums), b.ObjectiveValue(sums));
  EXPECT_EQ(a.Merit(sums, 5.0), b.Merit(sums, 5.0));
  EXPECT_EQ(a.Excess(sums), b.Excess(sums));
  EXPECT_EQ(a.SamplingErrors(sums), b.SamplingErrors(sums));
  ExpectEqual(a.Measure(sums), b.Measure(sums));
  EXPECT_EQ(a.rates().Evaluate(scores).surrogate, b.rates().Evaluate(scores).surrogate);
  if (a.rows().task() == Task::kRegression) return;
  std::vector<double> multipliers;
  for (std::size_t j = 0; j < a.num_limits(); ++j) {
    multipliers.push_back(0.1 + 0.01 * static_cast<double>(j % 7));
  }
  EXPECT_EQ(a.CostTable(multipliers), b.CostTable(multipliers));
}

std::vector<double> Moved(const std::vector<Constraint>& constraints, double share) {
  std::vector<double> bounds;
  for (const Constraint& constraint : constraints) bounds.push_back(share * constraint.bound);
  return bounds;
}

std::vector<Constraint> With(std::vector<Constraint> constraints, std::span<const double> bounds) {
  for (std::size_t c = 0; c < bounds.size(); ++c) constraints[c].bound = bounds[c];
  return constraints;
}

TEST(WithBounds, AnswersAsIfCompiledAnew) {
  for (const Case& one : Cases()) {
    const RateObjective objective = ParseObjective(one.objective);
    const std::vector<Constraint> constraints = ParseAll(one.texts);
    RateProblem problem(constraints, objective, one.rows, one.loss);
    problem.SetAllowances(problem.LargestSamplingErrors());
    for (const double share : {0.05, 0.9, 1.0, 1.1}) {
      SCOPED_TRACE(one.texts.front() + ", share " + std::to_string(share));
      const std::vector<double> bounds = Moved(constraints, share);
      const RateProblem anew(With(constraints, bounds), objective, one.rows, one.loss);
      ExpectSameAnswers(problem.WithBounds(bounds), anew, 7);
      // Bounds that were moved move on.
      const std::vector<double> other = Moved(constraints, 0.5);
      ExpectSameAnswers(problem.WithBounds(other).WithBounds(bounds), anew, 8);
    }
  }
}

// A group without rows: the rate stays undefined, as where evaluation allows it.
TEST(WithBounds, UndefinedRatesStayUndefined) {
  RowData rows = test::BinaryRows(100, 4);
  rows.groups[0].levels.emplace_back("X");
  const std::vector<Constraint> constraints = ParseAll({"error(sex=X) <= 10%", "fnr <= 20%"});
  const RateObjective objective = ParseObjective("error");
  const RateProblem problem(constraints, objective, rows, {}, EmptySubsetPolicy::kUndefined);
  const RateProblem moved = problem.WithBounds(std::vector<double>{0.05, 0.3});
  const std::vector<double> sums = moved.rates().ExactSums(RandomScores(rows, 1.0, 5));
  EXPECT_TRUE(std::isnan(moved.Measure(sums)[0].value));
  EXPECT_TRUE(std::isinf(moved.Violation(0, sums)));
  EXPECT_EQ(moved.Measure(sums)[1].text, "fnr <= 30%");
}

TEST(WithBounds, SurrogateBoundsFollow) {
  const RowData rows = test::BinaryRows(150, 6);
  const std::vector<Constraint> constraints = ParseAll({"fnr <= 30%", "gap(error, by=sex) <= 5%"});
  const std::vector<double> bounds = {0.12, 0.02};
  const std::vector<double> scores = RandomScores(rows, 1.0, 9);
  for (const SurrogateBoundRule rule : {SurrogateBoundRule::kSame, SurrogateBoundRule::kNegativeLog,
                                        SurrogateBoundRule::kUniformThenCurrent}) {
    const SurrogateOptions options{.kind = SurrogateKind::kLogisticBase2, .bound_rule = rule};
    const RateConstraints moved = RateConstraints(constraints, rows, options).WithBounds(bounds);
    const RateConstraints anew(With(constraints, bounds), rows, options);
    EXPECT_EQ(moved.Evaluate(scores).surrogate, anew.Evaluate(scores).surrogate);
    EXPECT_EQ(moved.Evaluate(scores).exact, anew.Evaluate(scores).exact);
  }
}

TEST(WithBounds, WhatCompilingWouldRefuseIsRefused) {
  const RowData rows = test::BinaryRows(100, 10);
  const RateProblem problem(ParseAll({"fnr <= 30%", "fnr >= 10%"}), ParseObjective("error"), rows);
  EXPECT_NO_THROW(problem.WithBounds(std::vector<double>{0.2, 0.2}));
  EXPECT_THROW(problem.WithBounds(std::vector<double>{0.1, 0.2}), ConstraintError);
  EXPECT_THROW(problem.WithBounds(std::vector<double>{1.2, 0.1}), ConstraintError);
  EXPECT_THROW(problem.WithBounds(std::vector<double>{std::nan(""), 0.1}), ConstraintError);
  EXPECT_THROW(problem.WithBounds(std::vector<double>{0.1}), std::invalid_argument);
  EXPECT_THROW(problem.rates().WithBounds(std::vector<double>{0.1, 0.1}), std::invalid_argument);
}

}  // namespace
}  // namespace bregboost
