#include "bregboost/solve/abpp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "solve/detail/primal_dual_loop.h"
#include "toy_problems.h"

namespace bregboost {
namespace {

using testing::QuadraticConstraints;
using testing::QuadraticLearner;
using testing::ToyProblem;
using testing::Vec;
using testing::VectorXd;

AbppOptions Tight() {
  AbppOptions options;
  options.termination = {.feasibility_tolerance = 1e-9,
                         .complementarity_tolerance = 1e-9,
                         .stationarity_tolerance = 1e-9,
                         .max_iterations = 200'000};
  return options;
}

struct ToyCase {
  ToyProblem toy;
  StepRule rule;
  double mu;
};

class AbppOnToys : public ::testing::TestWithParam<ToyCase> {};

TEST_P(AbppOnToys, ReachesTheClosedForm) {
  const ToyCase& test = GetParam();
  QuadraticLearner learner = test.toy.Learner();
  QuadraticConstraints constraints = test.toy.Constraints();
  AbppOptions options = Tight();
  options.step_rule = test.rule;
  options.strong_convexity = test.mu;
  const AbppResult result = SolveAbpp(learner, constraints, options);
  EXPECT_EQ(result.reason, TerminationReason::kConverged);
  EXPECT_LT((learner.x() - test.toy.x).cwiseAbs().maxCoeff(), 1e-6);
  const VectorXd y = testing::AsVector(result.multipliers);
  EXPECT_GE(y.minCoeff(), 0.0);
  if (test.toy.y.array().isNaN().any()) {
    EXPECT_NEAR(y.sum(), 2.0, 1e-6);
  } else {
    EXPECT_LT((y - test.toy.y).cwiseAbs().maxCoeff(), 1e-6);
  }
}

std::vector<ToyCase> ToyCases() {
  std::vector<ToyCase> cases;
  for (const ToyProblem& toy :
       {testing::ActivePlane(), testing::InactivePlane(), testing::SeveralActive(),
        testing::WeaklyActive(), testing::RepeatedPlane()}) {
    for (const StepRule rule : {StepRule::kComputed, StepRule::kAdaptive}) {
      for (const double mu : {0.0, 0.1}) cases.push_back({toy, rule, mu});
    }
  }
  cases.push_back({testing::LinearOnBall(), StepRule::kAdaptive, 0.0});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Toys, AbppOnToys, ::testing::ValuesIn(ToyCases()), [](const auto& test) {
  return test.param.toy.name + "_" + std::string(Name(test.param.rule)) +
         (test.param.mu > 0.0 ? "_accelerated" : "");
});

// The saddle gap L(average x, y*) - L(x*, average y) after each iteration.
std::vector<double> ErgodicGaps(const ToyProblem& toy, double mu, std::int64_t iterations) {
  QuadraticConstraints constraints = toy.Constraints();
  AbppOptions options = Tight();
  options.step_rule = StepRule::kComputed;
  options.strong_convexity = mu;
  options.use_average = true;
  options.termination.stationarity_tolerance = 0.0;
  std::vector<double> gaps;
  for (std::int64_t k = 1; k <= iterations; k = std::max(k + 1, k * 5 / 4)) {
    // Runs are deterministic, so a longer one repeats a shorter one.
    options.termination.max_iterations = k;
    QuadraticLearner fresh = toy.Learner();
    const AbppResult result = SolveAbpp(fresh, constraints, options);
    const auto lagrangian = [&](const VectorXd& x, const VectorXd& y) {
      const VectorXd g = toy.a * x + 0.5 * x.squaredNorm() * toy.quadratic - toy.b;
      return fresh.ObjectiveAt(x) + y.dot(g);
    };
    gaps.push_back(lagrangian(fresh.x(), toy.y) -
                   lagrangian(toy.x, testing::AsVector(result.average_multipliers)));
  }
  return gaps;
}

// Least-squares slope of log(gap) against log(k) over k in [first, last].
double FittedSlope(const std::vector<double>& gaps, std::int64_t iterations, std::int64_t first) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  std::size_t index = 0;
  for (std::int64_t k = 1; k <= iterations; k = std::max(k + 1, k * 5 / 4), ++index) {
    if (k < first) continue;
    const double x = std::log(static_cast<double>(k));
    const double y = std::log(gaps[index]);
    n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

TEST(AbppRates, ErgodicGapFallsLikeOneOverK) {
  const std::vector<double> gaps = ErgodicGaps(testing::SeveralActive(), 0.0, 2000);
  for (const double gap : gaps) EXPECT_GT(gap, 0.0);
  EXPECT_LE(FittedSlope(gaps, 2000, 20), -0.95);
}

TEST(AbppRates, ErgodicGapFallsLikeOneOverKSquaredWithStrongConvexity) {
  // f is 1-strongly convex; the true modulus is used.
  const std::vector<double> gaps = ErgodicGaps(testing::SeveralActive(), 1.0, 2000);
  for (const double gap : gaps) EXPECT_GT(gap, 0.0);
  EXPECT_LE(FittedSlope(gaps, 2000, 20), -1.8);
}

TEST(Abpp, HistoryIsWhatTheCallbackSaw) {
  const ToyProblem toy = testing::SeveralActive();
  QuadraticLearner learner = toy.Learner();
  QuadraticConstraints constraints = toy.Constraints();
  std::vector<IterationStats> seen;
  SolveHooks hooks;
  hooks.on_iteration = [&](const IterationStats& row) {
    seen.push_back(row);
    return true;
  };
  const AbppResult result = SolveAbpp(learner, constraints, Tight(), hooks);
  ASSERT_EQ(seen.size(), result.history.size());
  EXPECT_EQ(seen.front().k, 0);
  EXPECT_EQ(seen.front().objective, 0.0);  // the starting point, x = 0
  EXPECT_TRUE(std::isinf(seen.front().stationarity));
  for (std::size_t k = 0; k < seen.size(); ++k) {
    EXPECT_EQ(seen[k].k, static_cast<std::int64_t>(k));
    EXPECT_EQ(seen[k].objective, result.history[k].objective);
    EXPECT_GE(seen[k].max_multiplier, 0.0);
    if (k == 0) continue;
    EXPECT_GE(seen[k].seconds, seen[k - 1].seconds);
    EXPECT_GT(seen[k].evaluations, seen[k - 1].evaluations);
  }
  EXPECT_EQ(result.stats.k, seen.back().k);
}

TEST(Abpp, StopsForTheFlagAndForTheCallback) {
  const ToyProblem toy = testing::ActivePlane();
  QuadraticConstraints constraints = toy.Constraints();
  std::atomic<bool> flag = false;
  SolveHooks by_flag;
  by_flag.interrupt = &flag;
  by_flag.on_iteration = [&](const IterationStats& row) {
    if (row.k == 3) flag = true;
    return true;
  };
  QuadraticLearner learner = toy.Learner();
  const AbppResult flagged = SolveAbpp(learner, constraints, Tight(), by_flag);
  EXPECT_EQ(flagged.reason, TerminationReason::kInterrupted);
  EXPECT_EQ(flagged.stats.k, 3);

  SolveHooks by_return;
  by_return.on_iteration = [](const IterationStats& row) { return row.k < 2; };
  QuadraticLearner other = toy.Learner();
  const AbppResult returned = SolveAbpp(other, constraints, Tight(), by_return);
  EXPECT_EQ(returned.reason, TerminationReason::kInterrupted);
  EXPECT_EQ(returned.stats.k, 2);
}

TEST(Abpp, LimitsEndWithTheirReason) {
  const ToyProblem toy = testing::ActivePlane();
  QuadraticConstraints constraints = toy.Constraints();
  AbppOptions options = Tight();
  options.termination.max_iterations = 4;
  QuadraticLearner learner = toy.Learner();
  const AbppResult result = SolveAbpp(learner, constraints, options);
  EXPECT_EQ(result.reason, TerminationReason::kIterationLimit);
  EXPECT_EQ(result.history.size(), 5U);
  options = Tight();
  options.termination.max_seconds = 1e-12;
  QuadraticLearner timed = toy.Learner();
  EXPECT_EQ(SolveAbpp(timed, constraints, options).reason, TerminationReason::kTimeLimit);
}

// g turns NaN once x_1 exceeds 0.5, as a loss might that overflows.
class BreakingConstraints final : public ConstraintSet {
 public:
  std::size_t size() const override { return 1; }
  ConstraintValues Evaluate(std::span<const double> scores) const override {
    const double g = scores[0] > 0.5 ? std::nan("") : scores[0] - 1.0;
    return {.surrogate = {g}, .exact = {g}, .worst_exact_violation = 0.0};
  }
  double AddLagrangian(std::span<const double>, std::span<const double> y,
                       std::span<double> gradient, std::span<double>) const override {
    gradient[0] += y[0];
    return 0.0;
  }
  double LipschitzBound() const override { return 1.0; }
};

TEST(Abpp, ANaNConstraintIsANumericalErrorNotASatisfiedOne) {
  const ToyProblem toy = testing::ActivePlane();
  for (const StepRule rule : {StepRule::kComputed, StepRule::kAdaptive}) {
    QuadraticLearner learner = toy.Learner();
    BreakingConstraints constraints;
    AbppOptions options = Tight();
    options.step_rule = rule;
    const AbppResult result = SolveAbpp(learner, constraints, options);
    EXPECT_EQ(result.reason, TerminationReason::kNumericalError);
    EXPECT_TRUE(std::isnan(result.stats.surrogate_violation));
  }
}

// Both steps of the adaptive rule may be taken back, so the learner is left at the last sound
// point.
TEST(Abpp, ANumericalErrorLeavesTheLastSoundPoint) {
  const ToyProblem toy = testing::ActivePlane();
  QuadraticLearner learner = toy.Learner();
  BreakingConstraints constraints;
  SolveAbpp(learner, constraints, Tight());
  EXPECT_LE(learner.x()[0], 0.5);
}

TEST(Abpp, WithoutConstraintsItMinimisesTheObjective) {
  const ToyProblem toy = testing::ActivePlane();
  QuadraticLearner learner = toy.Learner();
  class Empty final : public ConstraintSet {
   public:
    std::size_t size() const override { return 0; }
    ConstraintValues Evaluate(std::span<const double>) const override { return {}; }
    double AddLagrangian(std::span<const double>, std::span<const double>, std::span<double>,
                         std::span<double>) const override {
      return 0.0;
    }
  } empty;
  EXPECT_EQ(SolveAbpp(learner, empty, Tight()).reason, TerminationReason::kConverged);
  EXPECT_LT((learner.x() - Vec({3, 4})).norm(), 1e-6);
}

TEST(Abpp, TheAverageIsTheWeightedMeanOfTheIterates) {
  const ToyProblem toy = testing::SeveralActive();
  QuadraticLearner learner = toy.Learner();
  QuadraticConstraints constraints = toy.Constraints();
  AbppOptions options = Tight();
  options.step_rule = StepRule::kComputed;
  options.strong_convexity = 1.0;
  options.use_average = true;
  options.termination.max_iterations = 25;
  VectorXd sum = VectorXd::Zero(3);
  double total = 0.0;
  SolveHooks hooks;
  hooks.on_iteration = [&](const IterationStats& row) {
    sum += row.averaging_weight * learner.x();
    total += row.averaging_weight;
    return true;
  };
  const AbppResult result = SolveAbpp(learner, constraints, options, hooks);
  EXPECT_LT((learner.x() - sum / total).norm(), 1e-12);
  EXPECT_EQ(result.stats.objective, learner.objective());
  EXPECT_TRUE(result.convex);
}

TEST(Abpp, AWarmStartAtTheSolutionStaysThere) {
  const ToyProblem toy = testing::SeveralActive();
  QuadraticLearner learner(toy.q, toy.c, toy.x);
  QuadraticConstraints constraints = toy.Constraints();
  AbppOptions options = Tight();
  options.initial_multipliers = {2, 3, 0};
  const AbppResult result = SolveAbpp(learner, constraints, options);
  EXPECT_EQ(result.reason, TerminationReason::kConverged);
  EXPECT_LE(result.stats.k, 2);
}

TEST(Abpp, AdaptiveStepsKeepTheConditionBetweenIterates) {
  const ToyProblem toy = testing::LinearOnBall();
  QuadraticLearner learner = toy.Learner();
  QuadraticConstraints constraints = toy.Constraints();
  AbppOptions options = Tight();
  std::vector<VectorXd> points;
  std::vector<IterationStats> rows;
  SolveHooks hooks;
  hooks.on_iteration = [&](const IterationStats& row) {
    points.push_back(learner.x());
    rows.push_back(row);
    return true;
  };
  SolveAbpp(learner, constraints, options, hooks);
  for (std::size_t k = 1; k < points.size(); ++k) {
    const double moved = (points[k] - points[k - 1]).norm();
    if (moved < 1e-9) continue;
    const double change = 0.5 * std::abs(points[k].squaredNorm() - points[k - 1].squaredNorm());
    // ||x_k - x_{k-1}|| / tau is the row's stationarity: the learner is exact.
    const double tau = moved / rows[k].stationarity;
    const double sigma = rows[k].averaging_weight * rows[0].sigma;
    EXPECT_LE(tau * sigma * change * change, moved * moved * (1.0 + 1e-6)) << "step " << k;
  }
}

TEST(Abpp, BadOptionsNameTheField) {
  const auto message = [](const AbppOptions& options) {
    try {
      Validate(options, 2);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  AbppOptions options;
  EXPECT_EQ(message(options), "");
  options.primal_step = 0.0;
  EXPECT_EQ(message(options), "primal_step: 0; allowed: a finite number above 0");
  options = {};
  options.dual_step = -1.0;
  EXPECT_EQ(message(options), "dual_step: -1; allowed: a finite number above 0");
  options = {};
  options.step_ratio = 0.0;
  EXPECT_EQ(message(options), "step_ratio: 0; allowed: a finite number above 0");
  options = {};
  options.accuracy_scale = -2.0;
  EXPECT_EQ(message(options), "accuracy_scale: -2; allowed: a finite number above 0");
  options = {};
  options.step_safety = 1.5;
  EXPECT_EQ(message(options), "step_safety: 1.5; allowed: above 0, at most 1");
  options = {};
  options.strong_convexity = -0.5;
  EXPECT_EQ(message(options), "strong_convexity: -0.5; allowed: a finite number, at least 0");
  options = {};
  options.initial_multipliers = {1.0};
  EXPECT_EQ(message(options), "initial_multipliers: 1 values; allowed: none, or 2");
  options.initial_multipliers = {1.0, -2.0};
  EXPECT_EQ(message(options), "initial_multipliers: -2; allowed: finite numbers, at least 0");
}

TEST(Abpp, ComputedStepsNeedALipschitzBound) {
  const ToyProblem toy = testing::LinearOnBall();
  QuadraticLearner learner = toy.Learner();
  QuadraticConstraints constraints = toy.Constraints();
  AbppOptions options = Tight();
  options.step_rule = StepRule::kComputed;
  EXPECT_THROW(SolveAbpp(learner, constraints, options), std::invalid_argument);
  options.primal_step = 0.5;
  options.dual_step = 0.5;
  EXPECT_EQ(SolveAbpp(learner, constraints, options).reason, TerminationReason::kConverged);
}

TEST(SimplexProjection, MatchesTheConditionsOfOptimality) {
  std::vector<double> y = {0.5, 0.2, -0.3, 2.0};
  detail::ProjectOntoSimplex(y);
  EXPECT_EQ(y, (std::vector<double>{0, 0, 0, 1}));
  std::vector<double> even = {5.0, 5.0};
  detail::ProjectOntoSimplex(even);
  EXPECT_EQ(even, (std::vector<double>{0.5, 0.5}));
  std::vector<double> inside = {0.2, 0.3, 0.5};
  detail::ProjectOntoSimplex(inside);
  EXPECT_NEAR(inside[0], 0.2, 1e-15);
  EXPECT_NEAR(inside[2], 0.5, 1e-15);
}

}  // namespace
}  // namespace bregboost
