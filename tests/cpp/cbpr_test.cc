#include "bregboost/solve/cbpr.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bregboost/learners/linear.h"
#include "bregboost/problem/parser.h"
#include "bregboost/problem/rate_constraints.h"
#include "error_text.h"
#include "generated_data.h"
#include "toy_problems.h"

namespace bregboost {
namespace {

using testing::GeneratedData;
using testing::MatrixXd;
using testing::QuadraticConstraints;
using testing::QuadraticLearner;
using testing::Vec;
using testing::VectorXd;

// min 1/2 ||x - (0.5, 0)||^2 outside the unit ball: 1/2 (1 - ||x||^2) <= 0. From the right the
// nearest such point is x = (1, 0), and (x - c) - y x = 0 gives y = 0.5.
TEST(Cbpr, LeavesAReverseConvexBallAtItsBoundary) {
  QuadraticLearner learner(MatrixXd::Identity(2, 2), Vec({0.5, 0}), Vec({2, 1}));
  QuadraticConstraints constraints(MatrixXd::Zero(1, 2), Vec({-1}), Vec({-0.5}));
  CbprOptions options;
  options.fritz_john_tolerance = 1e-7;
  options.max_outer_iterations = 5000;
  const CbprResult result = SolveCbpr(learner, constraints, options);
  EXPECT_EQ(result.reason, TerminationReason::kConverged);
  EXPECT_FALSE(result.feasibility.needed);
  EXPECT_EQ(result.proximal_weight, 2.0);  // twice the weak convexity
  EXPECT_LT((learner.x() - Vec({1, 0})).norm(), 1e-5);
  EXPECT_NEAR(result.multipliers[0], 0.5, 1e-5);
  EXPECT_NEAR(result.fritz_john.objective_multiplier, 1.0 / 1.5, 1e-5);
}

// Up to the accuracy of the sub-problems, which is 1e-8 here.
TEST(Cbpr, TheObjectiveNeverRisesAndIteratesStayFeasible) {
  QuadraticLearner learner(MatrixXd::Identity(2, 2), Vec({0.5, 0}), Vec({2, 1}));
  QuadraticConstraints constraints(MatrixXd::Zero(1, 2), Vec({-1}), Vec({-0.5}));
  const CbprResult result = SolveCbpr(learner, constraints, {});
  for (std::size_t t = 1; t < result.history.size(); ++t) {
    EXPECT_LE(result.history[t].objective, result.history[t - 1].objective + 5e-8);
    EXPECT_LE(result.history[t].surrogate_violation, 1e-8);
  }
}

struct GapProblem {
  GeneratedData data = testing::TwoGroups(800, 21);
  FeatureMatrix features =
      FeatureMatrix::DenseRowMajor(data.features, data.rows.num_rows(), data.num_features);
  Objective objective{data.rows, {}};

  RateConstraints Constraints(std::initializer_list<const char*> texts,
                              const SurrogateOptions& surrogate = {}) const {
    std::vector<Constraint> parsed;
    for (const char* text : texts) parsed.push_back(ParseConstraint(text));
    return {parsed, data.rows, surrogate};
  }
  LinearLearner Learner() const { return {features, objective, {.l2 = 0.05}}; }
  LinearLearner PlainFit() const {
    LinearLearner learner = Learner();
    RateConstraints none = Constraints({});
    SolveAbpp(learner, none, {});
    return learner;
  }
};

class CbprForms : public ::testing::TestWithParam<CbprForm> {};

TEST_P(CbprForms, LinearGroupGapReachesAFritzJohnPoint) {
  const GapProblem problem;
  RateConstraints constraints = problem.Constraints({"gap(error, by=group) <= 5%"});
  const LinearLearner plain = problem.PlainFit();
  const std::vector<double> unconstrained = constraints.Evaluate(plain.scores()).surrogate;
  ASSERT_GT(*std::max_element(unconstrained.begin(), unconstrained.end()), 0.05);  // it binds

  LinearLearner learner = problem.Learner();
  CbprOptions options;
  options.form = GetParam();
  options.max_outer_iterations = 3000;
  const CbprResult result = SolveCbpr(learner, constraints, options);
  EXPECT_EQ(result.reason, TerminationReason::kConverged);
  EXPECT_FALSE(result.feasibility.needed);  // constant scores have no gap
  EXPECT_LT(result.fritz_john.worst(), 1e-4);
  EXPECT_GT(*std::max_element(result.multipliers.begin(), result.multipliers.end()), 0.01);
  EXPECT_GT(learner.objective(), plain.objective());
  EXPECT_LT(learner.objective(), std::log(2.0));
  // The reported residual is the one measured afresh.
  EXPECT_NEAR(MeasureFritzJohn(learner, constraints, result.multipliers).worst(),
              result.fritz_john.worst(), 1e-12);
}

TEST_P(CbprForms, AnInfeasibleStartIsRepairedFirst) {
  const GapProblem problem;
  RateConstraints constraints = problem.Constraints({"gap(error, by=group) <= 5%"});
  LinearLearner learner = problem.PlainFit();
  CbprOptions options;
  options.form = GetParam();
  options.max_outer_iterations = 3000;
  bool saw_feasibility_phase = false;
  SolveHooks hooks;
  hooks.on_iteration = [&](const IterationStats& row) {
    if (row.phase == SolvePhase::kFeasibility) saw_feasibility_phase = true;
    return true;
  };
  const CbprResult result = SolveCbpr(learner, constraints, options, hooks);
  EXPECT_TRUE(saw_feasibility_phase);
  EXPECT_TRUE(result.feasibility.needed);
  EXPECT_GT(result.feasibility.start_violation, 0.05);
  EXPECT_LE(result.feasibility.smallest_violation, 0.0);
  EXPECT_EQ(result.feasibility.reason, TerminationReason::kFeasible);
  EXPECT_FALSE(result.feasibility.history.empty());
  EXPECT_EQ(result.reason, TerminationReason::kConverged);
  EXPECT_LT(result.fritz_john.worst(), 1e-4);
}

// No model brings the larger group loss below the smallest mean loss, so a bound under that, with a
// gap, is infeasible.
TEST_P(CbprForms, AnInfeasibleProblemIsCalledThatWithTheSmallestValues) {
  const GapProblem problem;
  const double bound = 0.2;
  RateConstraints constraints =
      problem.Constraints({"gap(error, by=group) <= 5%", "max(loss, by=group) <= 0.2"});
  RateConstraints losses = problem.Constraints({"max(loss, by=group) <= 0.2"});
  LinearLearner unpenalised(problem.features, problem.objective, {});
  RateConstraints none = problem.Constraints({});
  SolveAbpp(unpenalised, none, {});
  const double smallest_mean = unpenalised.objective();
  const std::vector<double> at_plain = losses.Evaluate(unpenalised.scores()).surrogate;
  ASSERT_GT(smallest_mean, bound);

  LinearLearner learner = problem.Learner();
  CbprOptions options;
  options.form = GetParam();
  const CbprResult result = SolveCbpr(learner, constraints, options);
  EXPECT_EQ(result.reason, TerminationReason::kInfeasible);
  EXPECT_EQ(result.feasibility.reason, TerminationReason::kInfeasible);
  EXPECT_GE(result.feasibility.smallest_violation, smallest_mean - bound);
  EXPECT_LE(result.feasibility.smallest_violation,
            *std::max_element(at_plain.begin(), at_plain.end()) + 1e-6);
  EXPECT_EQ(result.feasibility.values.size(), 4U);
  const std::vector<double> now = constraints.Evaluate(learner.scores()).surrogate;
  EXPECT_EQ(now, result.feasibility.values);  // the learner is left there
}

INSTANTIATE_TEST_SUITE_P(Forms, CbprForms,
                         ::testing::Values(CbprForm::kProximal, CbprForm::kLinearized),
                         [](const auto& form) { return std::string(Name(form.param)); });

TEST(Cbpr, BothFormsAgreeOnTheSameProblem) {
  const GapProblem problem;
  double objectives[2];
  for (const CbprForm form : {CbprForm::kProximal, CbprForm::kLinearized}) {
    RateConstraints constraints = problem.Constraints({"gap(error, by=group) <= 5%"});
    LinearLearner learner = problem.Learner();
    CbprOptions options;
    options.form = form;
    options.fritz_john_tolerance = 2e-5;
    options.max_outer_iterations = 3000;
    EXPECT_EQ(SolveCbpr(learner, constraints, options).reason, TerminationReason::kConverged);
    objectives[form == CbprForm::kProximal ? 0 : 1] = learner.objective();
  }
  EXPECT_NEAR(objectives[0], objectives[1], 1e-5);
}

TEST(Cbpr, ASmoothNonConvexSurrogateWorksInTheProximalForm) {
  const GapProblem problem;
  const SurrogateOptions sigmoid{.kind = SurrogateKind::kSigmoid};
  RateConstraints constraints =
      problem.Constraints({"gap(selection_rate, by=group) <= 3%"}, sigmoid);
  EXPECT_FALSE(constraints.convex());
  LinearLearner learner = problem.Learner();
  CbprOptions options;
  options.max_outer_iterations = 3000;
  const CbprResult result = SolveCbpr(learner, constraints, options);
  EXPECT_EQ(result.reason, TerminationReason::kConverged);
  EXPECT_LT(result.fritz_john.worst(), 1e-4);

  options.form = CbprForm::kLinearized;
  EXPECT_THROW(SolveCbpr(learner, constraints, options), std::invalid_argument);
}

TEST(Cbpr, StopsForTheFlag) {
  const GapProblem problem;
  RateConstraints constraints = problem.Constraints({"gap(error, by=group) <= 5%"});
  LinearLearner learner = problem.Learner();
  std::atomic<bool> flag = true;
  SolveHooks hooks;
  hooks.interrupt = &flag;
  EXPECT_EQ(SolveCbpr(learner, constraints, {}, hooks).reason, TerminationReason::kInterrupted);
}

TEST(Cbpr, BadOptionsNameTheField) {
  const GapProblem problem;
  RateConstraints constraints = problem.Constraints({"gap(error, by=group) <= 5%"});
  LinearLearner learner = problem.Learner();
  const auto message = [&](const CbprOptions& options) {
    try {
      SolveCbpr(learner, constraints, options);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CbprOptions options;
  options.proximal_weight = -1.0;
  EXPECT_EQ(message(options), "proximal_weight: -1; allowed: a finite number above 0");
  options.proximal_weight = 1e-6;  // below the weak convexity: sub-problems would not be convex
  EXPECT_NE(message(options).find("proximal_weight: 1e-06; allowed: above "), std::string::npos);
  options = {};
  options.fritz_john_tolerance = 0.0;
  EXPECT_EQ(message(options), "fritz_john_tolerance: 0; allowed: a finite number above 0");
  options = {};
  options.feasibility.target = 0.5;
  EXPECT_EQ(message(options), "target: 0.5; allowed: a finite number, at most 0");
  options = {};
  options.feasibility.improvement_tolerance = 0.0;
  EXPECT_EQ(message(options), "improvement_tolerance: 0; allowed: a finite number above 0");
  options = {};
  options.feasibility.verdict_tolerance = 1.0;
  EXPECT_EQ(message(options), "verdict_tolerance: 1; allowed: between 0 and 1");
  options = {};
  options.feasibility.max_outer_iterations = 0;
  EXPECT_EQ(message(options), "max_outer_iterations: 0; allowed: at least 1");
  options = {};
  options.max_outer_iterations = -1;
  EXPECT_EQ(message(options), "max_outer_iterations: -1; allowed: at least 0");
}

TEST(Feasibility, FindsAPointOrTheSmallestWorstViolation) {
  // x_1 <= -1 and -x_1 <= -b: feasible for b <= -1, else the best worst violation is (b + 1) / 2.
  const MatrixXd a = (MatrixXd(2, 1) << 1, -1).finished();
  {
    QuadraticLearner learner(MatrixXd::Identity(1, 1), Vec({0}));
    QuadraticConstraints constraints(a, Vec({-1, 2}));
    const FeasibilityResult result = FindFeasible(learner, constraints, {});
    EXPECT_EQ(result.reason, TerminationReason::kFeasible);
    EXPECT_TRUE(result.needed);
    EXPECT_LE(learner.x()[0], -1.0);
    EXPECT_GE(learner.x()[0], -2.0);
  }
  QuadraticLearner learner(MatrixXd::Identity(1, 1), Vec({0}));
  QuadraticConstraints constraints(a, Vec({-1, -3}));
  const FeasibilityResult result = FindFeasible(learner, constraints, {});
  EXPECT_EQ(result.reason, TerminationReason::kInfeasible);
  EXPECT_NEAR(result.smallest_violation, 2.0, 1e-4);
  EXPECT_NEAR(learner.x()[0], 1.0, 1e-4);
}

// x_1 <= -100 is feasible, but not within three steps of a primal step of 0.1.
TEST(Feasibility, AnUnfinishedSearchIsNotAVerdict) {
  QuadraticLearner learner(MatrixXd::Identity(1, 1), Vec({0}));
  QuadraticConstraints constraints((MatrixXd(1, 1) << 1).finished(), Vec({-100}));
  FeasibilityOptions options;
  options.max_outer_iterations = 1;
  options.subproblem.primal_step = 0.1;
  options.subproblem.termination.max_iterations = 3;
  const FeasibilityResult result = FindFeasible(learner, constraints, options);
  EXPECT_EQ(result.reason, TerminationReason::kIterationLimit);
  EXPECT_GT(result.smallest_violation, 0.0);
}

TEST(Feasibility, AClippedSurrogateIsRefused) {
  const GapProblem problem;
  RateConstraints constraints = problem.Constraints({"gap(error, by=group) <= 5%"}, {.clip = 2.0});
  LinearLearner learner = problem.PlainFit();
  CbprOptions options;
  options.form = CbprForm::kLinearized;
  EXPECT_THROW(SolveCbpr(learner, constraints, options), std::invalid_argument);
  options.form = CbprForm::kProximal;
  EXPECT_EQ(testing::ErrorOf([&] { SolveCbpr(learner, constraints, options); }),
            "surrogate: its curvature has no bound, so no L makes the constraints convex; allowed: "
            "surrogates without a clip");
}

// Equal losses are asked for exactly: zero scores have them, up to rounding.
TEST(Feasibility, TouchingALimitIsFeasible) {
  const GapProblem problem;
  RateConstraints constraints = problem.Constraints({"gap(error, by=group) <= 0%"});
  LinearLearner learner = problem.Learner();
  const FeasibilityResult result = FindFeasible(learner, constraints, {});
  EXPECT_EQ(result.reason, TerminationReason::kFeasible);
  EXPECT_FALSE(result.needed);
}

// Once the first bounds are solved, "fnr <= 95%" becomes 95% of the loss reached there: the current
// point is shut out, repaired, and the solve goes on to a binding limit.
TEST(Cbpr, BoundSchedulesRepairThePointTheyShutOut) {
  const GapProblem problem;
  RateConstraints constraints =
      problem.Constraints({"gap(error, by=group) <= 8%", "fnr <= 95%"},
                          {.bound_rule = SurrogateBoundRule::kUniformThenCurrent});
  LinearLearner learner = problem.Learner();
  CbprOptions options;
  options.form = CbprForm::kLinearized;
  const CbprResult result = SolveCbpr(learner, constraints, options);
  EXPECT_EQ(result.reason, TerminationReason::kConverged);
  EXPECT_TRUE(result.feasibility.needed);
  EXPECT_GT(result.multipliers[2], 0.01);  // rows: two of the gap, then the limit
}

TEST(Cbpr, TheTimeLimitCoversTheFeasibilityPhase) {
  const GapProblem problem;
  RateConstraints constraints = problem.Constraints({"max(loss, by=group) <= 0.2"});
  LinearLearner learner = problem.Learner();
  CbprOptions options;
  options.subproblem.termination.max_seconds = 1e-9;
  const CbprResult result = SolveCbpr(learner, constraints, options);
  EXPECT_EQ(result.reason, TerminationReason::kTimeLimit);
  EXPECT_LE(result.feasibility.history.size(), 2U);
}

}  // namespace
}  // namespace bregboost
