#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "bregboost/learners/linear.h"
#include "bregboost/problem/parser.h"
#include "bregboost/problem/rate_constraints.h"
#include "bregboost/solve/abpp.h"
#include "generated_data.h"

namespace bregboost {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::GeneratedData;

FeatureMatrix View(const GeneratedData& data) {
  return FeatureMatrix::DenseRowMajor(data.features, data.rows.num_rows(), data.num_features);
}

ObjectiveOptions LossOf(const RowData& rows) {
  ObjectiveOptions options;
  if (rows.task() == Task::kRegression) options.loss.kind = LossKind::kSquared;
  return options;
}

std::vector<Constraint> Parse(std::initializer_list<const char*> texts) {
  std::vector<Constraint> constraints;
  for (const char* text : texts) constraints.push_back(ParseConstraint(text));
  return constraints;
}

AbppOptions Tight(double tolerance = 1e-9) {
  AbppOptions options;
  options.termination = {.feasibility_tolerance = tolerance,
                         .complementarity_tolerance = tolerance,
                         .stationarity_tolerance = tolerance,
                         .max_iterations = 20'000};
  return options;
}

struct Fit {
  VectorXd coefficients;
  VectorXd intercept;
  AbppResult result;
  double objective = 0.0;
};

Fit Solve(const GeneratedData& data, std::initializer_list<const char*> texts,
          const LinearOptions& options, double tolerance = 1e-9) {
  const FeatureMatrix features = View(data);
  const ObjectiveOptions loss = LossOf(data.rows);
  const Objective objective(data.rows, loss);
  RateConstraints constraints(Parse(texts), data.rows, {}, loss.loss);
  LinearLearner learner(features, objective, options);
  Fit fit;
  fit.result = SolveAbpp(learner, constraints, Tight(tolerance));
  fit.coefficients = learner.coefficients().reshaped();
  fit.intercept = learner.intercept();
  fit.objective = learner.objective();
  return fit;
}

// min 1/n ||X b + b_0 - y||^2 + l2/2 ||b||^2 has the normal equations
// (2/n Xc'Xc + l2 I) b = 2/n Xc' yc with centred X and y, since the intercept is free.
TEST(LinearLearner, RidgeRegressionHasItsClosedForm) {
  const GeneratedData data = testing::NoisyLine(300, 1);
  const double l2 = 0.3;
  const Fit fit = Solve(data, {}, {.l2 = l2});
  EXPECT_EQ(fit.result.reason, TerminationReason::kConverged);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  MatrixXd x = Eigen::Map<const RowMajor>(data.features.data(), 300, 2);
  VectorXd y = Eigen::Map<const VectorXd>(data.rows.targets.data(), 300);
  const Eigen::RowVectorXd mean_x = x.colwise().mean();
  const double mean_y = y.mean();
  x.rowwise() -= mean_x;
  y.array() -= mean_y;
  const MatrixXd system = 2.0 / 300 * x.transpose() * x + l2 * MatrixXd::Identity(2, 2);
  const VectorXd expected = system.ldlt().solve(2.0 / 300 * x.transpose() * y);
  EXPECT_LT((fit.coefficients - expected).norm(), 1e-7);
  EXPECT_NEAR(fit.intercept[0], mean_y - mean_x * expected, 1e-7);
}

// At the minimum of a logistic loss with a free intercept the residuals sum to zero and
// X'(p - y) / n + l2 b = 0.
TEST(LinearLearner, LogisticRegressionIsStationary) {
  const GeneratedData data = testing::TwoGroups(500, 2);
  const Fit fit = Solve(data, {}, {.l2 = 0.05});
  VectorXd gradient = 0.05 * fit.coefficients;
  double residuals = 0.0;
  for (std::size_t i = 0; i < 500; ++i) {
    const Eigen::Map<const VectorXd> x(data.features.data() + 4 * i, 4);
    const double p = 1.0 / (1.0 + std::exp(-(x.dot(fit.coefficients) + fit.intercept[0])));
    const double residual = p - data.rows.labels.codes[i];
    residuals += residual / 500;
    gradient += residual / 500 * x;
  }
  EXPECT_NEAR(residuals, 0.0, 1e-8);
  EXPECT_LT(gradient.norm(), 1e-8);
}

TEST(LinearLearner, SparseAndDenseFeaturesGiveTheSameModel) {
  GeneratedData data = testing::TwoGroups(300, 3);
  for (std::size_t i = 0; i < data.features.size(); i += 3) data.features[i] = 0.0;
  std::vector<std::int32_t> offsets = {0}, columns;
  std::vector<double> values, by_column(data.features.size());
  for (std::size_t i = 0; i < 300; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      const double x = data.features[4 * i + j];
      by_column[j * 300 + i] = x;
      if (x == 0.0) continue;
      columns.push_back(static_cast<std::int32_t>(j));
      values.push_back(x);
    }
    offsets.push_back(static_cast<std::int32_t>(values.size()));
  }
  const Objective objective(data.rows, {});
  std::vector<VectorXd> models;
  for (const FeatureMatrix& features :
       {View(data), FeatureMatrix::DenseColumnMajor(by_column, 300, 4),
        FeatureMatrix::Csr(offsets, columns, values, 4)}) {
    RateConstraints constraints(Parse({"fnr <= 30%"}), data.rows);
    LinearLearner learner(features, objective, {.l2 = 0.01});
    EXPECT_EQ(SolveAbpp(learner, constraints, Tight()).reason, TerminationReason::kConverged);
    models.emplace_back(learner.coefficients().reshaped());
  }
  EXPECT_LT((models[0] - models[1]).norm(), 1e-7);
  EXPECT_LT((models[0] - models[2]).norm(), 1e-7);
}

// The multipliers and model of a constrained problem satisfy the KKT conditions by the set's own
// exact derivatives; the bound holds with equality.
TEST(LinearLearner, ConstrainedLogisticRegressionMeetsKkt) {
  const GeneratedData data = testing::TwoGroups(600, 4);
  const FeatureMatrix features = View(data);
  const Objective objective(data.rows, {});
  RateConstraints constraints(Parse({"fnr <= 25%", "error <= 90%"}), data.rows);
  LinearLearner learner(features, objective, {.l2 = 0.01});
  const AbppResult result = SolveAbpp(learner, constraints, Tight());
  EXPECT_EQ(result.reason, TerminationReason::kConverged);
  EXPECT_GT(result.multipliers[0], 0.1);
  EXPECT_EQ(result.multipliers[1], 0.0);
  EXPECT_NEAR(constraints.Evaluate(learner.scores()).surrogate[0], 0.0, 1e-8);
  EXPECT_LT(learner.StationarityResidual(constraints, result.multipliers, 1.0), 1e-7);
}

TEST(LinearLearner, ThreeClassesUnderClassBounds) {
  const Fit plain = Solve(testing::ThreeClasses(600, 5), {}, {.l2 = 0.01});
  const Fit bound = Solve(testing::ThreeClasses(600, 5), {"error(class=1) <= 40%"}, {.l2 = 0.01});
  EXPECT_EQ(bound.result.reason, TerminationReason::kConverged);
  EXPECT_EQ(bound.coefficients.size(), 6);
  EXPECT_GT(bound.result.multipliers[0], 0.01);
  EXPECT_GT(bound.objective, plain.objective);
}

TEST(LinearLearner, CoefficientsStayInTheirBox) {
  const GeneratedData data = testing::TwoGroups(500, 6);
  const LinearOptions free{.l2 = 0.01};
  LinearOptions boxed = free;
  boxed.coefficient_lower = {-0.5, -0.5, -0.5, -0.5};
  boxed.coefficient_upper = {0.5, 0.5, 0.5, 0.5};
  const Fit inside = Solve(data, {"fnr <= 45%"}, boxed, 1e-7);
  EXPECT_EQ(inside.result.reason, TerminationReason::kConverged);
  EXPECT_GE(inside.coefficients.minCoeff(), -0.5);
  EXPECT_LE(inside.coefficients.maxCoeff(), 0.5);
  EXPECT_EQ(inside.coefficients.maxCoeff(), 0.5);  // the box binds
  EXPECT_GT(inside.objective, Solve(data, {"fnr <= 45%"}, free, 1e-7).objective);
  LinearOptions wide = free;
  wide.coefficient_lower.assign(4, -100.0);
  const Fit same = Solve(data, {"fnr <= 45%"}, wide, 1e-7);
  EXPECT_LT((same.coefficients - Solve(data, {"fnr <= 45%"}, free, 1e-7).coefficients).norm(),
            1e-4);
}

TEST(LinearLearner, WeightsAreRepeatedRows) {
  GeneratedData weighted = testing::TwoGroups(200, 7);
  GeneratedData repeated;
  repeated.num_features = 4;
  std::vector<std::string> labels, groups;
  const auto value = [](const CategoricalColumn& column, std::size_t row) {
    return column.levels[static_cast<std::size_t>(column.codes[row])];
  };
  for (std::size_t i = 0; i < 200; ++i) {
    const std::size_t copies = 1 + i % 3;
    weighted.rows.weights.push_back(static_cast<double>(copies));
    const std::span<const double> row = std::span(weighted.features).subspan(4 * i, 4);
    for (std::size_t c = 0; c < copies; ++c) {
      repeated.features.insert(repeated.features.end(), row.begin(), row.end());
      labels.push_back(value(weighted.rows.labels, i));
      groups.push_back(value(weighted.rows.groups[0], i));
    }
  }
  repeated.rows.labels = EncodeColumn("label", labels);
  repeated.rows.groups.push_back(EncodeColumn("group", groups));
  const Fit a = Solve(weighted, {"fnr <= 30%", "max(loss, by=group) <= 0.6"}, {.l2 = 0.01});
  const Fit b = Solve(repeated, {"fnr <= 30%", "max(loss, by=group) <= 0.6"}, {.l2 = 0.01});
  EXPECT_LT((a.coefficients - b.coefficients).norm(), 1e-6);
  EXPECT_NEAR(a.result.multipliers[0], b.result.multipliers[0], 1e-6);
}

// The step stops when its bound on psi - min psi is within nu, no sooner and not much later: true
// gaps stay below nu, and a finer nu costs more evaluations.
TEST(LinearLearner, TheInnerStopFollowsTheAccuracyAskedFor) {
  const GeneratedData data = testing::TwoGroups(500, 8);
  const FeatureMatrix features = View(data);
  const Objective objective(data.rows, {});
  const RateConstraints constraints(Parse({"fnr <= 30%"}), data.rows);
  const std::vector<double> multipliers = {0.7};
  const double tau = 50.0;
  const auto psi = [&](const LinearLearner& learner) {
    std::vector<double> unused(500, 0.0);
    const double squared = learner.coefficients().squaredNorm() + learner.intercept().squaredNorm();
    return learner.objective() +
           constraints.AddLagrangian(learner.scores(), multipliers, unused, {}) +
           squared / (2.0 * tau);
  };
  const auto step = [&](double nu, StepOutcome& outcome) {
    LinearLearner learner(features, objective, {.l2 = 0.001});
    outcome = learner.Step({.constraints = &constraints,
                            .multipliers = multipliers,
                            .tau = tau,
                            .accuracy = {.delta = 0.0, .nu = nu}});
    return psi(learner);
  };
  StepOutcome exact_outcome;
  const double minimum = step(1e-18, exact_outcome);
  std::int64_t evaluations = 0;
  for (const double nu : {1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10}) {
    StepOutcome outcome;
    const double gap = step(nu, outcome) - minimum;
    EXPECT_LE(outcome.suboptimality, nu);
    EXPECT_LE(gap, outcome.suboptimality + 1e-14);
    EXPECT_GE(outcome.evaluations, evaluations) << "nu " << nu;
    evaluations = outcome.evaluations;
  }
  EXPECT_GT(exact_outcome.evaluations, evaluations);
  StepOutcome loose;
  step(1.0, loose);
  EXPECT_GT(loose.suboptimality, 1e-6);  // a coarse step is not solved to the end
}

TEST(LinearLearner, AccuracyOfASolveStaysWithinThePapersSchedule) {
  const GeneratedData data = testing::TwoGroups(500, 9);
  const FeatureMatrix features = View(data);
  const Objective objective(data.rows, {});
  RateConstraints constraints(Parse({"fnr <= 30%"}), data.rows);
  LinearLearner learner(features, objective, {.l2 = 0.01});
  AbppOptions options = Tight(1e-6);
  options.step_rule = StepRule::kComputed;
  const AbppResult result = SolveAbpp(learner, constraints, options);
  ASSERT_EQ(result.reason, TerminationReason::kConverged);
  const double tau_0 = result.history.front().tau;
  for (const IterationStats& row : result.history) {
    if (row.k == 0) continue;
    const SubproblemAccuracy paper = AccuracyAt(row.k - 1, tau_0, 0.0, 1.0);
    const double distance = std::pow((row.stationarity) * tau_0, 2) / 2.0;  // at least D_W
    const double finest = 0.5 * tau_0 * std::pow(0.05 * 1e-6, 2);
    EXPECT_LE(row.accuracy_reached, row.accuracy_requested);
    EXPECT_LE(row.accuracy_requested,
              std::max(paper.delta * distance + paper.nu, paper.delta * distance + finest) *
                  (1.0 + 1e-9));
  }
}

TEST(LinearLearner, ConstantsThatTheSolverAsksFor) {
  const GeneratedData data = testing::TwoGroups(400, 10);
  const FeatureMatrix features = View(data);
  const Objective objective(data.rows, {});
  const LinearLearner with(features, objective, {.l2 = 0.1});
  const LinearLearner without(features, objective, {.l2 = 0.1, .fit_intercept = false});
  EXPECT_EQ(with.StrongConvexity(), 0.0);  // the intercept is not penalised
  EXPECT_EQ(without.StrongConvexity(), 0.1);
  // Lambda bounds the mean squared score of any model of norm 1.
  VectorXd direction = VectorXd::Random(4).normalized();
  LinearLearner learner(features, objective, {.fit_intercept = false});
  learner.SetModel(direction, VectorXd::Zero(1));
  double mean_square = 0.0;
  for (const double score : learner.scores()) mean_square += score * score / 400;
  EXPECT_LE(mean_square, learner.ScoreSensitivity());
}

TEST(LinearLearner, SaveRestoreAndAverage) {
  const GeneratedData data = testing::TwoGroups(100, 11);
  const FeatureMatrix features = View(data);
  const Objective objective(data.rows, {});
  LinearLearner learner(features, objective, {});
  const auto zero = learner.Save();
  learner.AccumulateAverage(1.0);
  learner.SetModel(VectorXd::Ones(4), VectorXd::Constant(1, 2.0));
  learner.AccumulateAverage(3.0);
  EXPECT_EQ(learner.coefficients()(2, 0), 1.0);
  learner.UseAverage();
  EXPECT_NEAR(learner.coefficients()(2, 0), 0.75, 1e-15);
  EXPECT_NEAR(learner.intercept()[0], 1.5, 1e-15);
  learner.Restore(*zero);
  EXPECT_EQ(learner.coefficients().norm(), 0.0);
  EXPECT_NEAR(learner.objective(), std::log(2.0), 1e-15);
}

TEST(LinearLearner, BadOptionsNameTheField) {
  const GeneratedData data = testing::TwoGroups(50, 12);
  const FeatureMatrix features = View(data);
  const Objective objective(data.rows, {});
  const auto message = [&](const LinearOptions& options) {
    try {
      const LinearLearner learner(features, objective, options);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({.l2 = -1.0}), "l2: -1; allowed: a finite number, at least 0");
  EXPECT_EQ(message({.memory = 0}), "memory: 0; allowed: at least 1");
  LinearOptions options;
  options.coefficient_upper = {0.0, 1.0};
  EXPECT_EQ(message(options),
            "coefficient_upper: 2 values; allowed: none, or one for each of the 4 features");
  options.coefficient_upper = {0, -std::numeric_limits<double>::infinity(), 0, 0};
  EXPECT_EQ(message(options),
            "coefficient_upper: -inf for feature 1; allowed: a number that leaves room");
  options = {};
  options.coefficient_lower = {0.0};
  EXPECT_EQ(message(options),
            "coefficient_lower: 1 values; allowed: none, or one for each of the 4 features");
  options.coefficient_lower = {0, 0, 3, 0};
  options.coefficient_upper = {1, 1, 1, 1};
  EXPECT_EQ(message(options),
            "coefficient_lower: 3 for feature 2; allowed: at most coefficient_upper, 1");
  const FeatureMatrix short_features =
      FeatureMatrix::DenseRowMajor(std::span(data.features).first(80), 20, 4);
  EXPECT_THROW(LinearLearner(short_features, objective, {}), std::invalid_argument);
}

TEST(LinearLearner, ModelsOfTheWrongShapeAreRefusedAndBoxesKept) {
  const GeneratedData data = testing::TwoGroups(50, 13);
  const FeatureMatrix features = View(data);
  const Objective objective(data.rows, {});
  LinearOptions boxed;
  boxed.coefficient_upper.assign(4, 1.0);
  LinearLearner learner(features, objective, boxed);
  EXPECT_THROW(learner.SetModel(VectorXd::Ones(3), VectorXd::Zero(1)), std::invalid_argument);
  EXPECT_THROW(learner.SetModel(MatrixXd::Ones(4, 2), VectorXd::Zero(2)), std::invalid_argument);
  learner.SetModel(VectorXd::Constant(4, 7.0), VectorXd::Zero(1));
  EXPECT_EQ(learner.coefficients().maxCoeff(), 1.0);
  boxed.coefficient_lower.assign(4, std::numeric_limits<double>::infinity());
  EXPECT_THROW(LinearLearner(features, objective, boxed), std::invalid_argument);
  const FeatureMatrix none = FeatureMatrix::DenseRowMajor({}, 50, 0);
  EXPECT_THROW(LinearLearner(none, objective, {.fit_intercept = false}), std::invalid_argument);
  EXPECT_NO_THROW(LinearLearner(none, objective, {}));
}

// The trace stands in for the largest eigenvalue of wide matrices, and is no smaller.
TEST(LinearLearner, WideFeaturesHaveABoundToo) {
  const GeneratedData data = testing::TwoGroups(20, 14);
  const Objective objective(data.rows, {});
  std::vector<std::int32_t> offsets = {0}, columns;
  std::vector<double> values;
  for (std::int32_t i = 0; i < 20; ++i) {
    columns.push_back(100 * i);
    values.push_back(2.0);
    offsets.push_back(i + 1);
  }
  const LinearOptions bare{.fit_intercept = false};
  const LinearLearner narrow(FeatureMatrix::Csr(offsets, columns, values, 2000), objective, bare);
  const LinearLearner wide(FeatureMatrix::Csr(offsets, columns, values, 2001), objective, bare);
  EXPECT_NEAR(narrow.ScoreSensitivity(), 4.0 / 20, 1e-12);  // orthogonal rows of length 2
  EXPECT_NEAR(wide.ScoreSensitivity(), 4.0, 1e-12);
}

// A step whose psi is not convex has no bound to offer.
TEST(LinearLearner, NoBoundWithoutConvexity) {
  const GeneratedData data = testing::TwoGroups(100, 15);
  const FeatureMatrix features = View(data);
  const Objective objective(data.rows, {});
  const RateConstraints constraints(Parse({"fnr <= 30%"}), data.rows);
  const std::vector<double> multipliers = {0.5};
  LinearLearner learner(features, objective, {});
  const StepOutcome outcome = learner.Step({.constraints = &constraints,
                                            .multipliers = multipliers,
                                            .modulus = -1.0,
                                            .accuracy = {.delta = 0.0, .nu = 1e-6}});
  EXPECT_TRUE(std::isnan(outcome.suboptimality));
  EXPECT_LT(outcome.residual, 1e-2);
}

// The paper's bounds: e log 2 at first, and once that is solved e times the loss reached there. A
// second solve starts with the first bounds again.
TEST(LinearLearner, BoundSchedulesMoveOnAtConvergenceAndStartAfresh) {
  const GeneratedData data = testing::TwoGroups(400, 16);
  const FeatureMatrix features = View(data);
  const Objective objective(data.rows, {});
  RateConstraints constraints(Parse({"fnr <= 90%"}), data.rows,
                              {.bound_rule = SurrogateBoundRule::kUniformThenCurrent});
  std::vector<double> objectives;
  for (int run = 0; run < 2; ++run) {
    LinearLearner learner(features, objective, {.l2 = 0.01});
    const AbppResult result = SolveAbpp(learner, constraints, Tight(1e-7));
    EXPECT_EQ(result.reason, TerminationReason::kConverged);
    EXPECT_GT(result.multipliers[0], 0.0);  // 90% of the loss that a plain model reaches binds
    objectives.push_back(learner.objective());
  }
  EXPECT_NEAR(objectives[0], objectives[1], 1e-9);
}

}  // namespace
}  // namespace bregboost
