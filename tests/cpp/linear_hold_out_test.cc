#include "bregboost/learners/linear_hold_out.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bregboost/problem/parser.h"
#include "generated_data.h"
#include "learners/detail/no_constraints.h"

namespace bregboost {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::GeneratedData;

std::vector<Constraint> Parse(const std::vector<std::string>& texts) {
  std::vector<Constraint> constraints;
  for (const std::string& text : texts) constraints.push_back(ParseConstraint(text));
  return constraints;
}

struct Part {
  Part(GeneratedData of_rows, const std::vector<std::string>& texts, const LossOptions& loss = {})
      : data(std::move(of_rows)),
        objective(data.rows, {.loss = loss}),
        constraints(Parse(texts), data.rows, /*surrogate=*/{}, loss),
        features(
            FeatureMatrix::DenseRowMajor(data.features, data.rows.num_rows(), data.num_features)) {}
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  ConstrainedFeatures view() const { return {features, objective, constraints}; }
  // [X 1]
  MatrixXd Design() const {
    const auto n = static_cast<Eigen::Index>(data.rows.num_rows());
    const auto d = static_cast<Eigen::Index>(data.num_features);
    MatrixXd design = MatrixXd::Ones(n, d + 1);
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < d; ++j) {
        design(i, j) = data.features[static_cast<std::size_t>(i * d + j)];
      }
    }
    return design;
  }

  GeneratedData data;
  Objective objective;
  RateConstraints constraints;
  FeatureMatrix features;
};

const std::vector<std::string> kLimits = {"fnr <= 20%", "gap(error, by=group) <= 2%"};

GeneratedData WithRateWeights(GeneratedData data) {
  for (std::size_t i = 0; i < data.rows.num_rows(); ++i) {
    data.rows.weights.push_back(0.5 + 0.1 * static_cast<double>(i % 7));
    data.rows.rate_weights.push_back(1.0 + static_cast<double>(i % 3));
  }
  return data;
}

ProximalStep Plain() {
  ProximalStep step;
  step.tau = 1e8;
  return step;
}

// Coefficients above the intercepts.
MatrixXd Stacked(const LinearModel& model) {
  MatrixXd stacked(model.coefficients.rows() + 1, model.coefficients.cols());
  stacked << model.coefficients, model.intercept.transpose();
  return stacked;
}

void ExpectScores(std::span<const double> scores, const MatrixXd& expected, double tolerance) {
  ASSERT_EQ(scores.size(), static_cast<std::size_t>(expected.size()));
  const Eigen::Map<const MatrixXd> actual(scores.data(), expected.rows(), expected.cols());
  EXPECT_LE((actual - expected).cwiseAbs().maxCoeff(), tolerance);
}

TEST(LinearHoldOut, IsALinearLearnerThatScoresOtherRows) {
  for (const bool binary : {true, false}) {
    const std::vector<std::string> texts =
        binary ? kLimits : std::vector<std::string>{"error <= 1%"};
    const Part training(binary ? testing::TwoGroups(500, 1) : testing::ThreeClasses(500, 1), texts);
    const Part unseen(binary ? testing::TwoGroups(300, 2) : testing::ThreeClasses(300, 2), texts);
    const LinearOptions options{.l2 = 0.01};
    LinearHoldOut learner(training.view(), unseen.view(), {.linear = options, .steps = 7});
    EXPECT_EQ(&learner.unseen(), &unseen.constraints);
    EXPECT_EQ(&learner.training(), &training.constraints);
    EXPECT_EQ(learner.requested_rounds(), 7);
    EXPECT_TRUE(learner.ReservedScores().empty());
    LinearLearner alone(training.features, training.objective, options);
    EXPECT_EQ(learner.ScoreSensitivity(), alone.ScoreSensitivity());

    ProximalStep exact = Plain();
    exact.accuracy = {.delta = 0.0, .nu = 1e-12};
    learner.Step(Plain());
    alone.Step(exact);
    EXPECT_EQ(learner.rounds_done(), 1);
    ExpectScores(learner.scores(), unseen.Design() * Stacked(learner.Model()), 1e-12);
    EXPECT_LE((learner.Model().coefficients - alone.coefficients()).cwiseAbs().maxCoeff(), 1e-4);
    EXPECT_LE((learner.Model().intercept - alone.intercept()).cwiseAbs().maxCoeff(), 1e-4);
    EXPECT_LE(learner.StationarityResidual(detail::NoConstraints(), {}, 1.0), 2e-6);
  }
}

// Limits of either set stand for those of the training rows.
TEST(LinearHoldOut, StepsUnderLimitsAreTakenOnTheTrainingRows) {
  const Part training(testing::TwoGroups(500, 3), kLimits);
  const Part unseen(testing::TwoGroups(300, 4), kLimits);
  LinearHoldOut learner(training.view(), unseen.view(), {.linear = {.l2 = 0.01}});
  LinearLearner alone(training.features, training.objective, {.l2 = 0.01});
  const std::vector<double> multipliers(training.constraints.size(), 0.4);
  ProximalStep step;
  step.multipliers = multipliers;
  step.tau = 3.0;
  step.accuracy = {.delta = 0.0, .nu = 1e-12};
  for (const RateConstraints* limits : {&unseen.constraints, &training.constraints}) {
    step.constraints = limits;
    const StepOutcome outcome = learner.Step(step);
    step.constraints = &training.constraints;
    EXPECT_NEAR(outcome.distance, alone.Step(step).distance, 1e-5);
    EXPECT_LE((learner.Model().coefficients - alone.coefficients()).cwiseAbs().maxCoeff(), 1e-5);
    EXPECT_NEAR(learner.StationarityResidual(*limits, multipliers, 1.0),
                alone.StationarityResidual(training.constraints, multipliers, 1.0), 1e-5);
  }
}

TEST(LinearHoldOut, LossAndRatesAreThoseOfTheUnseenRows) {
  const Part training(testing::TwoGroups(500, 5), kLimits);
  const Part unseen(WithRateWeights(testing::TwoGroups(300, 6)), kLimits);
  LinearHoldOut learner(training.view(), unseen.view(), {.linear = {.l2 = 0.1}});
  learner.Step(Plain());
  const VectorXd scores = unseen.Design() * Stacked(learner.Model());
  const RowData& rows = unseen.data.rows;
  double loss = 0.0, total = 0.0, missed = 0.0, positive = 0.0;
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    const double score = scores[static_cast<Eigen::Index>(i)];
    const bool label = rows.labels.codes[i] == 1;
    loss += rows.weights[i] * std::log1p(std::exp(label ? -score : score));
    total += rows.weights[i];
    if (!label) continue;
    positive += rows.rate_weights[i];
    if (score <= 0.0) missed += rows.rate_weights[i];
  }
  EXPECT_NEAR(learner.objective(), loss / total, 1e-12);
  const LearnerValues values = learner.Evaluate(unseen.constraints);
  EXPECT_EQ(values.objective, learner.objective());
  EXPECT_NEAR(values.constraints.exact[0], missed / positive - 0.2, 1e-12);
}

// Newton's method on sum_i u_i (c_i0 log(1 + e^F) + c_i1 log(1 + e^-F)) + l2/2 ||coefficients||^2,
// u the rate weights as shares.
VectorXd WeightedLogisticRegression(const MatrixXd& design, const VectorXd& shares,
                                    const MatrixXd& costs, double l2) {
  VectorXd penalty = VectorXd::Constant(design.cols(), l2);
  penalty[design.cols() - 1] = 0.0;
  VectorXd x = VectorXd::Zero(design.cols());
  for (int step = 0; step < 30; ++step) {
    const Eigen::ArrayXd p = 1.0 / (1.0 + (-(design * x).array()).exp());
    const Eigen::ArrayXd both = costs.rowwise().sum().array();
    const VectorXd gradient =
        design.transpose() * (shares.array() * (both * p - costs.col(1).array())).matrix() +
        penalty.cwiseProduct(x);
    MatrixXd hessian =
        design.transpose() * (shares.array() * both * p * (1.0 - p)).matrix().asDiagonal() * design;
    hessian.diagonal() += penalty;
    x -= hessian.ldlt().solve(gradient);
  }
  return x;
}

TEST(LinearHoldOut, StepsOnCostsAreWeightedLogisticRegressions) {
  const Part training(WithRateWeights(testing::TwoGroups(400, 7)), kLimits);
  const Part unseen(testing::TwoGroups(100, 8), kLimits);
  constexpr double kL2 = 0.02;
  LinearHoldOut learner(training.view(), unseen.view(), {.linear = {.l2 = kL2}});
  const CellTable& cells = training.constraints.compiled().cells;
  std::vector<double> costs(cells.cells.size() * 2);
  for (std::size_t j = 0; j < costs.size(); ++j) {
    costs[j] = 0.3 + 0.2 * static_cast<double>(j % 5);
  }
  MatrixXd of_rows(400, 2);
  VectorXd shares(400);
  for (Eigen::Index i = 0; i < 400; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (Eigen::Index k = 0; k < 2; ++k) {
      of_rows(i, k) = costs[cells.cell_of_row[row] * 2 + static_cast<std::size_t>(k)];
    }
    shares[i] = training.data.rows.rate_weights[row];
  }
  shares /= shares.sum();
  learner.StepOnCosts(costs, 0.01);
  const VectorXd expected = WeightedLogisticRegression(training.Design(), shares, of_rows, kL2);
  EXPECT_LE((Stacked(learner.Model()) - expected).cwiseAbs().maxCoeff(), 1e-4);
  ExpectScores(learner.scores(), unseen.Design() * expected, 1e-3);
  EXPECT_EQ(learner.rounds_done(), 1);
}

TEST(LinearHoldOut, RegressionIsLeastSquares) {
  const LossOptions squared{.kind = LossKind::kSquared};
  const Part training(testing::NoisyLine(300, 9), {"loss <= 5"}, squared);
  const Part unseen(testing::NoisyLine(100, 10), {"loss <= 5"}, squared);
  LinearHoldOut learner(training.view(), unseen.view(), {});
  learner.Step(Plain());
  const MatrixXd design = training.Design();
  const Eigen::Map<const VectorXd> targets(training.data.rows.targets.data(), 300);
  const VectorXd expected =
      (design.transpose() * design).ldlt().solve(design.transpose() * targets);
  ExpectScores(learner.scores(), unseen.Design() * expected, 1e-4);
}

TEST(LinearHoldOut, ReservedRowsAreScoredByTheModelAsItIs) {
  const Part training(testing::TwoGroups(300, 11), kLimits);
  const Part unseen(testing::TwoGroups(200, 12), kLimits);
  const Part reserved(testing::TwoGroups(50, 13), {});
  LinearHoldOut learner(training.view(), unseen.view(), {.linear = {.l2 = 0.01}},
                        reserved.features);
  for (const double score : learner.ReservedScores()) EXPECT_EQ(score, 0.0);
  const auto start = learner.Save();
  learner.Step(Plain());
  const MatrixXd plain = Stacked(learner.Model());
  ExpectScores(learner.ReservedScores(), reserved.Design() * plain, 1e-12);
  MatrixXd adjusted = plain / 2.0;
  adjusted(adjusted.rows() - 1, 0) += 0.25;
  const LinearModel model = learner.Model({.temperature = 2.0, .offsets = {0.25}});
  EXPECT_LE((Stacked(model) - adjusted).cwiseAbs().maxCoeff(), 1e-15);
  learner.Restore(*start);
  for (const double score : learner.ReservedScores()) EXPECT_EQ(score, 0.0);
}

TEST(LinearHoldOut, StatesAndAveragesChangeTheScores) {
  const Part training(testing::TwoGroups(300, 14), kLimits);
  const Part unseen(testing::TwoGroups(200, 15), kLimits);
  LinearHoldOut learner(training.view(), unseen.view(), {.linear = {.l2 = 0.01}});
  learner.SetAnchor();
  const std::vector<double> multipliers(training.constraints.size(), 0.5);
  ProximalStep step;
  step.constraints = &unseen.constraints;
  step.multipliers = multipliers;
  learner.Step(step);
  const MatrixXd first = Stacked(learner.Model());
  EXPECT_NEAR(learner.AnchorDistance(), 0.5 * first.squaredNorm(), 1e-12);
  learner.AccumulateAverage(1.0);
  const auto state = learner.Save();
  learner.Step(step);
  const MatrixXd second = Stacked(learner.Model());
  EXPECT_GT((second - first).norm(), 1e-3);
  learner.AccumulateAverage(3.0);
  learner.Restore(*state);
  ExpectScores(learner.scores(), unseen.Design() * first, 1e-12);
  learner.UseAverage();
  ExpectScores(learner.scores(), unseen.Design() * (0.25 * first + 0.75 * second), 1e-12);
}

std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(LinearHoldOut, WhatDoesNotFitIsRefused) {
  const std::vector<std::string> texts = {"fnr <= 20%"};
  const Part training(testing::TwoGroups(300, 16), texts);
  const Part unseen(testing::TwoGroups(200, 17), texts);
  const auto error_of = [&](const ConstrainedFeatures& other,
                            const LinearHoldOutOptions& options = {}) {
    return ErrorOf([&] { LinearHoldOut(training.view(), other, options); });
  };
  EXPECT_EQ(error_of(unseen.view()), "nothing thrown");
  EXPECT_EQ(error_of(unseen.view(), {.linear = {}, .steps = 0}), "steps: 0; allowed: at least 1");
  EXPECT_EQ(error_of({unseen.features, unseen.objective, training.constraints}),
            "constraints of the unseen rows: bound to other rows than the objective; allowed: the "
            "same RowData");
  const RateConstraints others(Parse({"fnr <= 10%"}), unseen.data.rows);
  EXPECT_EQ(error_of({unseen.features, unseen.objective, others}),
            "constraints of the unseen rows: 'fnr <= 10%'; allowed: that of the training rows, "
            "'fnr <= 20%'");
  EXPECT_EQ(error_of({training.features, unseen.objective, unseen.constraints}),
            "features of the unseen rows: 300 rows; allowed: as many as labels, 200");
  const FeatureMatrix narrow =
      FeatureMatrix::DenseRowMajor(std::span(unseen.data.features).first(400), 200, /*columns=*/2);
  EXPECT_EQ(error_of({narrow, unseen.objective, unseen.constraints}),
            "features of the unseen rows: 2 columns; allowed: as many as of the training rows, 4");
  EXPECT_EQ(ErrorOf([&] { LinearHoldOut(training.view(), unseen.view(), {}, narrow); }),
            "features of the reserved rows: 2 columns; allowed: as many as of the training rows, "
            "4");
  GeneratedData renamed = testing::TwoGroups(200, 17);
  renamed.rows.labels.levels = {"1", "2"};
  EXPECT_EQ(error_of(Part(renamed, texts).view()),
            "labels of the unseen rows: other classes; allowed: those of the training rows, in the "
            "same order");

  LinearHoldOut learner(training.view(), unseen.view(), {});
  EXPECT_THROW(learner.Evaluate(training.constraints), std::invalid_argument);
  const RateConstraints same_again(Parse(texts), unseen.data.rows);
  ProximalStep step;
  step.constraints = &same_again;
  EXPECT_THROW(learner.Step(step), std::invalid_argument);
  EXPECT_EQ(ErrorOf([&] { learner.StepOnCosts(std::vector<double>(3, 1.0), 1.0); }),
            "costs: 3 values; allowed: 4, one for each cell and class");
  EXPECT_EQ(ErrorOf([&] { learner.StepOnCosts(std::vector<double>(4, -1.0), 1.0); }),
            "costs: -1; allowed: finite and at least 0");
  EXPECT_EQ(ErrorOf([&] {
              learner.Model({.temperature = 1.0, .offsets = {0.0, 0.0}});
            }),
            "offsets: 2 values; allowed: none, or one for each score, 1");
  EXPECT_EQ(learner.rounds_done(), 0);
}

// Multipliers belong to groups, so a group that one set lacks would shift them, and other groups in
// the same number would take them over.
TEST(LinearHoldOut, BothSetsHaveTheSameGroups) {
  const std::vector<std::string> texts = {"gap(error, by=group) <= 2%"};
  const Part training(testing::TwoGroups(300, 18), texts);
  GeneratedData with_third = testing::TwoGroups(200, 19);
  with_third.rows.groups[0].levels.emplace_back("c");
  for (std::size_t i = 0; i < 40; ++i) with_third.rows.groups[0].codes[i] = 2;
  GeneratedData renamed = testing::TwoGroups(200, 19);
  renamed.rows.groups[0].levels = {"a", "c"};
  for (const GeneratedData& other : {with_third, renamed}) {
    const Part unseen(other, texts);
    EXPECT_EQ(ErrorOf([&] { LinearHoldOut(training.view(), unseen.view(), {}); }),
              "constraints: 'gap(error, by=group) <= 2%' compares groups that only one of the "
              "training and the unseen rows has; allowed: the same groups in both");
  }
}

}  // namespace
}  // namespace bregboost
