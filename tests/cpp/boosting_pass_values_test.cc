// Values that the boosting passes report, against objective and constraints in double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "boosting_pass_problems.h"

namespace bregboost::test {
namespace {

using detail::BoostingPass;
using detail::Lagrangian;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// True if a row of A weighs losses, of which no count is exact.
bool WeighsLosses(const CompiledConstraints& compiled, std::size_t j) {
  using Matrix = decltype(compiled.matrix);
  for (Matrix::InnerIterator entry(compiled.matrix, static_cast<Eigen::Index>(j)); entry; ++entry) {
    const std::size_t slot = static_cast<std::size_t>(entry.col()) % compiled.slots.size();
    if (compiled.slots[slot].kind == SlotKind::kLoss) return true;
  }
  return false;
}

void ExpectSameValues(const Problem& problem, const TypedScores& scores, bool exactly) {
  const std::vector<double> values = scores.ClassMajor();
  const LearnerValues got = problem.pass.Evaluate(problem.constraints, scores.view());
  const ConstraintValues want = problem.constraints.Evaluate(values);
  const double objective = problem.objective.Evaluate(values);
  EXPECT_NEAR(got.objective, objective, 1e-6 * objective);
  EXPECT_NEAR(got.constraints.worst_exact_violation, want.worst_exact_violation, 1e-6 * objective);
  ASSERT_EQ(got.constraints.exact.size(), want.exact.size());
  for (std::size_t j = 0; j < want.exact.size(); ++j) {
    // Means of losses, some of them subtracted from others.
    EXPECT_NEAR(got.constraints.surrogate[j], want.surrogate[j], 3e-6 * objective) << j;
    if (WeighsLosses(problem.constraints.compiled(), j)) {
      EXPECT_NEAR(got.constraints.exact[j], want.exact[j], 3e-6 * objective) << j;
    } else if (exactly) {
      EXPECT_EQ(got.constraints.exact[j], want.exact[j]) << j;
    } else {
      EXPECT_NEAR(got.constraints.exact[j], want.exact[j], 1e-12) << j;
    }
  }
}

TEST(BoostingPassValues, ValuesAgreeWithDouble) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(Describe(c));
    const Problem problem(c, 4321, 16);
    for (const Layout& layout : kLayouts) {
      ExpectSameValues(problem, *problem.Scores(2.0, 4, layout), c.weights == Weights::kNone);
    }
  }
}

TEST(BoostingPassValues, TiesCountAsInTheConstraints) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(Describe(c));
    const Problem problem(c, 3000, 17);
    std::vector<double> values = RandomScores(problem.rows, 1.0, 5);
    for (double& value : values) value = std::round(value);
    values[0] = 1e-300;  // above 0, though not as a float
    values[1] = -1e-300;
    ExpectSameValues(problem, *Typed(values, problem.rows.num_rows(), kLightGbm),
                     c.weights == Weights::kNone);
    ExpectSameValues(problem, *Typed(values, problem.rows.num_rows(), kXgboost),
                     c.weights == Weights::kNone);
  }
}

TEST(BoostingPassValues, ExtremeScoresHaveFiniteLosses) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(Describe(c));
    const Problem problem(c, 1024, 10);
    ExpectSameValues(problem, *Typed(ExtremeScores(problem.rows), 1024, kLightGbm),
                     c.weights == Weights::kNone);
  }
}

// Adding up equal numbers rounds in one direction; boosting starts with equal scores.
TEST(BoostingPassValues, SumsOfEqualScoresDoNotDrift) {
  for (const std::size_t num_classes : {2UL, 7UL}) {
    const RowData rows = PassRows(num_classes, 300000, Weights::kNone, 18);
    const Objective objective(rows, {});
    const RateConstraints constraints(ParseAll({"loss <= 0"}), rows);
    const BoostingPass pass(objective, {});
    std::vector<double> values(rows.num_rows() * rows.num_scores());
    for (std::size_t j = 0; j < values.size(); ++j) {
      const std::size_t k = j / rows.num_rows();
      values[j] = 0.1 * static_cast<double>(k + 1);
    }
    const auto scores = Typed(values, rows.num_rows(), kLightGbm);
    const LearnerValues got = pass.Evaluate(constraints, scores->view());
    const double want = objective.Evaluate(values);
    EXPECT_NEAR(got.objective, want, 2e-7 * want);
    EXPECT_NEAR(got.constraints.surrogate[0], want, 2e-7 * want);
  }
}

TEST(BoostingPassValues, ObjectiveAlone) {
  for (const Case& c : Cases()) {
    const Problem problem(c, 999, 19);
    const RateConstraints none({}, problem.rows);
    const auto scores = problem.Scores(2.0, 6);
    const double want = problem.objective.Evaluate(scores->ClassMajor());
    EXPECT_NEAR(problem.pass.Evaluate(none, scores->view()).objective, want, 1e-6 * want);
  }
}

TEST(BoostingPassValues, NanIsNeverHarmless) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(Describe(c));
    const Problem problem(c, 600, 20);
    for (const Layout& layout : kLayouts) {
      std::vector<double> values = RandomScores(problem.rows, 1.0, 7);
      const std::size_t bad = 123;
      values[(problem.rows.num_scores() - 1) * problem.rows.num_rows() + bad] = kNaN;
      const auto scores = Typed(values, problem.rows.num_rows(), layout);
      const Lagrangian lagrangian{.constraints = &problem.constraints,
                                  .multipliers = problem.multipliers};
      const Derivatives derived = Derive(problem.pass, lagrangian, scores->view());
      for (std::size_t k = 0; k < problem.rows.num_scores(); ++k) {
        EXPECT_TRUE(std::isnan(derived.gradient[scores->IndexOf(bad, k)]));
        EXPECT_TRUE(std::isnan(derived.hessian[scores->IndexOf(bad, k)]));
        EXPECT_TRUE(std::isfinite(derived.gradient[scores->IndexOf(bad + 1, k)]));
      }
      const LearnerValues got = problem.pass.Evaluate(problem.constraints, scores->view());
      const ConstraintValues want = problem.constraints.Evaluate(scores->ClassMajor());
      EXPECT_TRUE(std::isnan(got.objective));
      for (std::size_t j = 0; j < want.exact.size(); ++j) {
        EXPECT_EQ(std::isnan(got.constraints.exact[j]), std::isnan(want.exact[j])) << j;
        EXPECT_EQ(std::isnan(got.constraints.surrogate[j]), std::isnan(want.surrogate[j])) << j;
      }
      EXPECT_EQ(got.constraints.worst_exact_violation, want.worst_exact_violation);
    }
  }
}

}  // namespace
}  // namespace bregboost::test
