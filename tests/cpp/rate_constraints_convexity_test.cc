// What solvers are told about the shape of the constraints: convexity, L_g, weak convexity, and
// convex majorants. See constraint_set.h for the norm.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "bregboost/problem/rate_constraints.h"
#include "finite_differences.h"
#include "random_problems.h"

namespace bregboost {
namespace {

using test::BinaryRows;
using test::FourClassRows;
using test::ParseAll;
using test::RandomScores;
using test::RegressionRows;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Texts = std::vector<std::string>;

const Texts kBinaryTexts = {"fnr <= 10%",
                            "selection_rate >= 30%",
                            "precision >= 60%",
                            "disagreement <= 20%",
                            "loss(sex=F) <= 0.5",
                            "gap(fnr, by=sex) <= 5%",
                            "ratio(selection_rate, by=race) >= 80%",
                            "error(sex=F) - 2 * selection_rate + loss <= 10%"};
const Texts kFourClassTexts = {"error(class=a) <= 10%", "gap(error, by=sex) <= 5%",
                               "gap(loss, by=race) <= 5%", "disagreement <= 20%",
                               "error(sex=F) - 2 * loss(sex=M) <= 10%"};
const Texts kFourClassShares = {"selection_rate(predicted=a) <= 10%",
                                "precision(predicted=b) >= 60%",
                                "gap(selection_rate(predicted=c), by=sex) <= 5%"};
const Texts kRegressionTexts = {"loss <= 0.5", "gap(loss, by=sex) <= 0.1",
                                "loss(sex=F) - 2 * loss(sex=M) <= 0.2"};

// Weights of which some are 0 in the loss or in the rates, so that the norm is not the plain one.
RowData WithZeroWeights(RowData rows) {
  for (std::size_t i = 0; i < rows.num_rows(); i += 7) rows.weights[i] = 0.0;
  for (std::size_t i = 3; i < rows.num_rows(); i += 7) rows.rate_weights[i] = 0.0;
  return rows;
}

// ||F - F'||^2 = 1/M sum_i m_i ||F_i - F'_i||^2, or of one vector.
double SquaredNorm(const RowData& rows, const std::vector<double>& v) {
  double total = 0.0, metric = 0.0;
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    metric += rows.metric_weight(i);
    for (std::size_t k = 0; k < rows.num_scores(); ++k) {
      total += rows.metric_weight(i) * std::pow(test::ScoreOf(rows, v, k, i), 2);
    }
  }
  return total / metric;
}

double Distance(const std::vector<double>& a, const std::vector<double>& b) {
  double total = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) total += std::pow(a[j] - b[j], 2);
  return std::sqrt(total);
}

// A set of constraints with the rows that it refers to.
struct Problem {
  std::string name;
  std::unique_ptr<RowData> rows;
  std::unique_ptr<RateConstraints> set;
};

Problem MakeProblem(const std::string& name, RowData rows, const Texts& texts,
                    const SurrogateOptions& surrogate = {}, const LossOptions& loss = {}) {
  auto kept = std::make_unique<RowData>(std::move(rows));
  auto set = std::make_unique<RateConstraints>(ParseAll(texts), *kept, surrogate, loss);
  const std::string full = name + ", " + std::string(Name(surrogate.kind)) + ", " +
                           std::string(Name(loss.kind)) + ", temperature " +
                           std::to_string(surrogate.temperature);
  return {full, std::move(kept), std::move(set)};
}

std::vector<Problem> Problems() {
  std::vector<Problem> problems;
  for (const SurrogateKind kind :
       {SurrogateKind::kCrossEntropy, SurrogateKind::kLogisticBase2, SurrogateKind::kHingeSquared,
        SurrogateKind::kHuberisedHinge, SurrogateKind::kSigmoid}) {
    for (const double temperature : {1.0, 0.3}) {
      const SurrogateOptions options{.kind = kind, .temperature = temperature};
      problems.push_back(
          MakeProblem("binary", WithZeroWeights(BinaryRows(60, 1)), kBinaryTexts, options));
      problems.push_back(MakeProblem("4 classes", WithZeroWeights(FourClassRows(60, 2)),
                                     kFourClassTexts, options));
      problems.push_back(
          MakeProblem("shares", WithZeroWeights(FourClassRows(60, 3)), kFourClassShares, options));
    }
  }
  for (const LossOptions& loss : {LossOptions{.kind = LossKind::kSquared},
                                  LossOptions{.kind = LossKind::kHuber, .huber_delta = 0.7}}) {
    problems.push_back(MakeProblem("regression", WithZeroWeights(RegressionRows(60, 4)),
                                   kRegressionTexts, {}, loss));
  }
  return problems;
}

// --- convex() ---

bool IsConvexSet(const Texts& texts, const RowData& rows, const SurrogateOptions& options = {},
                 const LossOptions& loss = {}) {
  return RateConstraints(ParseAll(texts), rows, options, loss).convex();
}

TEST(Convex, OneSidedRatesAre) {
  for (const std::int32_t positive : {0, 1}) {
    RowData rows = BinaryRows(60, 5);
    rows.positive_class = positive;
    for (const char* text :
         {"fnr <= 10%", "tpr >= 90%", "error(sex=F) <= 10%", "selection_rate <= 10%",
          "selection_rate >= 10%",  // through the complement: missing the other class
          "fnr >= 10%", "precision >= 60%", "min(precision, by=sex) >= 60%", "loss <= 0.5",
          "max(fnr, by=race) <= 10%", "disagreement <= 10%", "fnr + 2 * fpr + loss <= 1"}) {
      EXPECT_TRUE(IsConvexSet({text}, rows)) << text;
    }
  }
  const RowData four = FourClassRows(60, 6);
  for (const char* text : {"error <= 10%", "recall(class=b) >= 90%", "max(error, by=class) <= 10%",
                           "disagreement <= 10%", "loss <= 0.5"}) {
    EXPECT_TRUE(IsConvexSet({text}, four)) << text;
  }
}

TEST(Convex, DifferencesAreNot) {
  const RowData rows = BinaryRows(60, 7);
  for (const char* text : {"gap(fnr, by=sex) <= 5%", "ratio(selection_rate, by=sex) >= 80%",
                           "fnr(sex=F) - fnr(sex=M) <= 5%", "loss >= 0.1", "gap(loss, by=sex) <= 1",
                           "fnr - loss <= 0"}) {
    EXPECT_FALSE(IsConvexSet({text}, rows)) << text;
    EXPECT_FALSE(IsConvexSet({"fnr <= 10%", text}, rows)) << text;
  }
  const RowData four = FourClassRows(60, 8);
  for (const char* text : {"gap(error, by=sex) <= 5%", "error >= 10%",  // no complement to use
                           "selection_rate(predicted=a) <= 10%",
                           "selection_rate(predicted=a) >= 10%", "precision(predicted=a) >= 60%"}) {
    EXPECT_FALSE(IsConvexSet({text}, four)) << text;
  }
}

TEST(Convex, DependsOnTheSurrogate) {
  const RowData rows = BinaryRows(60, 9);
  const double clip = 2.0;
  EXPECT_TRUE(IsConvexSet({"fnr <= 10%"}, rows, {.kind = SurrogateKind::kHuberisedHinge}));
  EXPECT_FALSE(IsConvexSet({"fnr <= 10%"}, rows, {.kind = SurrogateKind::kSigmoid}));
  EXPECT_FALSE(IsConvexSet({"fnr <= 10%"}, rows, {.clip = clip}));
  // The loss itself is neither smoothed nor clipped.
  EXPECT_TRUE(IsConvexSet({"loss <= 1"}, rows, {.kind = SurrogateKind::kSigmoid, .clip = clip}));
}

// --- Lipschitz bound ---

TEST(LipschitzBound, HoldsForRandomPairs) {
  for (const Problem& problem : Problems()) {
    SCOPED_TRACE(problem.name);
    const double bound = problem.set->LipschitzBound();
    EXPECT_GT(bound, 0.0);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const double spread = 0.1 * std::pow(2.0, static_cast<double>(seed % 8));
      const std::vector<double> a = RandomScores(*problem.rows, spread, 100 + seed);
      const std::vector<double> v = RandomScores(*problem.rows, 0.3, 200 + seed);
      const std::vector<double> b = test::Moved(a, v, 1.0);
      const double moved =
          Distance(problem.set->Evaluate(a).surrogate, problem.set->Evaluate(b).surrogate);
      EXPECT_LE(moved, bound * std::sqrt(SquaredNorm(*problem.rows, v)) * (1.0 + 1e-9));
    }
  }
}

// The steepest direction at random scores, for each constraint alone: in the score norm the
// gradient of g_j has length sqrt(M sum_i d_i^2 / m_i).
TEST(LipschitzBound, IsAtLeastEveryGradient) {
  for (const Problem& problem : Problems()) {
    SCOPED_TRACE(problem.name);
    const RowData& rows = *problem.rows;
    double metric = 0.0;
    for (std::size_t i = 0; i < rows.num_rows(); ++i) metric += rows.metric_weight(i);
    for (const double spread : {0.1, 1.0, 10.0}) {
      const std::vector<double> scores = RandomScores(rows, spread, 10);
      for (std::size_t j = 0; j < problem.set->size(); ++j) {
        const auto d = test::GradientAt(test::OneConstraint(*problem.set, j), scores);
        double total = 0.0;
        for (std::size_t i = 0; i < rows.num_rows(); ++i) {
          for (std::size_t k = 0; k < rows.num_scores(); ++k) {
            const double slope = test::ScoreOf(rows, d, k, i);
            if (slope != 0.0) total += metric * slope * slope / rows.metric_weight(i);
          }
        }
        EXPECT_LE(std::sqrt(total), problem.set->LipschitzBound() * (1.0 + 1e-9));
      }
    }
  }
}

// error <= e over all rows with cross-entropy: every row misses badly, so every slope nears 1 and
// g moves by as much as the scores do. L_g = 1 is attained.
TEST(LipschitzBound, IsAttainedByOneRateOverAllRows) {
  RowData rows = BinaryRows(40, 11);
  rows.weights.clear();
  rows.rate_weights.clear();
  const RateConstraints set(ParseAll({"error <= 10%"}), rows);
  std::vector<double> far(40), toward(40);
  for (std::size_t i = 0; i < 40; ++i) {
    toward[i] = rows.labels.codes[i] == 1 ? 1.0 : -1.0;
    far[i] = -30.0 * toward[i];
  }
  const double moved =
      Distance(set.Evaluate(far).surrogate, set.Evaluate(test::Moved(far, toward, 1.0)).surrogate);
  const double ratio = moved / std::sqrt(SquaredNorm(rows, toward));
  EXPECT_NEAR(set.LipschitzBound(), 1.0, 1e-9);
  EXPECT_LE(ratio, set.LipschitzBound() * (1.0 + 1e-9));
  EXPECT_GE(ratio, 0.5 * set.LipschitzBound());
}

// A group of a quarter of the rows: its rate moves twice as much as the norm sees, L_g = 2. Ten
// copies of a constraint move together, L_g = 2 sqrt(10); disjoint groups do not add up.
TEST(LipschitzBound, CountsSubsetsAndCopies) {
  RowData rows;
  rows.labels = EncodeColumn("y", {"0", "1", "0", "1", "0", "1", "0", "1"});
  rows.groups = {EncodeColumn("g", {"a", "a", "b", "b", "c", "c", "d", "d"})};
  const auto bound = [&](const Texts& texts) {
    return RateConstraints(ParseAll(texts), rows).LipschitzBound();
  };
  EXPECT_NEAR(bound({"error(g=a) <= 5%"}), 2.0, 1e-9);
  EXPECT_NEAR(bound(Texts(10, "error(g=a) <= 5%")), 2.0 * std::sqrt(10.0), 1e-9);
  EXPECT_NEAR(bound({"max(error, by=g) <= 5%"}), 2.0, 1e-9);
  EXPECT_NEAR(bound({"0.5 * error(g=a) <= 5%"}), 1.0, 1e-9);
}

TEST(LipschitzBound, IsInfiniteForSquares) {
  const RowData binary = BinaryRows(30, 12), numeric = RegressionRows(30, 12);
  EXPECT_EQ(RateConstraints(ParseAll({"fnr <= 5%"}), binary, {.kind = SurrogateKind::kHingeSquared})
                .LipschitzBound(),
            kInfinity);
  EXPECT_EQ(RateConstraints(ParseAll({"loss <= 1"}), numeric, {}, {.kind = LossKind::kSquared})
                .LipschitzBound(),
            kInfinity);
}

// --- Weak convexity ---

// The smallest second difference of g_j along lines (a mean of second derivatives), divided by the
// squared length of the step, over constraints and random lines; lines that move one row alone find
// what averages hide.
double SmallestCurvature(const Problem& problem) {
  constexpr double kStep = 0.05;
  const RowData& rows = *problem.rows;
  double smallest = kInfinity;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const double spread = seed % 2 == 0 ? 0.5 : 2.0;
    const std::vector<double> center = RandomScores(rows, spread, 300 + seed);
    std::vector<double> v = RandomScores(rows, 1.0, 400 + seed);
    if (seed % 4 != 0) {
      const std::size_t only = seed * 7 % rows.num_rows();
      for (std::size_t i = 0; i < v.size(); ++i) {
        if (i % rows.num_rows() != only) v[i] = 0.0;
      }
    }
    const double length = SquaredNorm(rows, v);
    if (length == 0.0) continue;
    const auto g = [&](double t) {
      return problem.set->Evaluate(test::Moved(center, v, t)).surrogate;
    };
    const std::vector<double> below = g(-kStep), middle = g(0.0), above = g(kStep);
    for (std::size_t j = 0; j < middle.size(); ++j) {
      const double second = (above[j] - 2.0 * middle[j] + below[j]) / (kStep * kStep);
      smallest = std::min(smallest, second / length);
    }
  }
  return smallest;
}

// g_j + L/2 ||F||^2 is convex: no line bends down by more than L.
TEST(WeakConvexityBound, ConvexifiesEveryConstraint) {
  for (const Problem& problem : Problems()) {
    SCOPED_TRACE(problem.name);
    const double bound = problem.set->WeakConvexityBound();
    EXPECT_EQ(bound == 0.0, problem.set->convex());
    EXPECT_TRUE(std::isfinite(bound));
    const double smallest = SmallestCurvature(problem);
    EXPECT_GE(smallest, -bound * (1.0 + 1e-6) - 1e-6);
    EXPECT_LT(smallest, 0.0) << "nothing bends down, the test is void";
  }
}

TEST(WeakConvexityBound, IsZeroWhereConvex) {
  const Texts texts = {"fnr <= 10%", "selection_rate >= 30%", "precision >= 60%", "loss <= 1"};
  for (const SurrogateKind kind : {SurrogateKind::kCrossEntropy, SurrogateKind::kLogisticBase2,
                                   SurrogateKind::kHingeSquared, SurrogateKind::kHuberisedHinge}) {
    const Problem problem = MakeProblem("binary", BinaryRows(60, 13), texts, {.kind = kind});
    EXPECT_TRUE(problem.set->convex());
    EXPECT_EQ(problem.set->WeakConvexityBound(), 0.0);
    EXPECT_GE(SmallestCurvature(problem), -1e-6);
  }
}

// The sigmoid bends down most at 1 - p = (3 + sqrt 3) / 6, by 1 / (6 sqrt 3 T^2): there the bound
// is attained.
TEST(WeakConvexityBound, IsAttainedBySigmoidAtItsSteepestBend) {
  constexpr double kTemperature = 0.5;
  RowData rows = BinaryRows(40, 14);
  rows.weights.clear();
  rows.rate_weights.clear();
  const RateConstraints set(ParseAll({"selection_rate <= 10%"}), rows,
                            {.kind = SurrogateKind::kSigmoid, .temperature = kTemperature});
  const double p = (3.0 + std::numbers::sqrt3) / 6.0;
  const std::vector<double> bend(40, kTemperature * std::log(p / (1.0 - p))), ones(40, 1.0);
  constexpr double kStep = 1e-3;
  const auto g = [&](double t) { return set.Evaluate(test::Moved(bend, ones, t)).surrogate[0]; };
  const double curvature = (g(kStep) - 2.0 * g(0.0) + g(-kStep)) / (kStep * kStep);
  EXPECT_NEAR(-curvature, set.WeakConvexityBound(), 1e-4 * set.WeakConvexityBound());
}

// Two events of a cell bend down together: -log p twice, by 1/4 each at score 0.
TEST(WeakConvexityBound, AddsUpWithinACell) {
  RowData rows = BinaryRows(40, 25);
  rows.weights.clear();
  rows.rate_weights.clear();
  const RateConstraints set(ParseAll({"loss + error >= 0.5"}), rows);
  EXPECT_NEAR(set.WeakConvexityBound(), 0.5, 1e-12);
}

TEST(WeakConvexityBound, IsInfiniteForAClippedLoss) {
  const RowData rows = BinaryRows(30, 15);
  EXPECT_EQ(RateConstraints(ParseAll({"fnr <= 5%"}), rows, {.clip = 2.0}).WeakConvexityBound(),
            kInfinity);
}

// --- Majorants ---

std::vector<Problem> MajorizableProblems() {
  std::vector<Problem> problems;
  for (Problem& problem : Problems()) {
    const bool is_share = problem.name.starts_with("shares");
    const bool is_sigmoid = problem.name.find("sigmoid") != std::string::npos;
    if (!is_share && !is_sigmoid) problems.push_back(std::move(problem));
  }
  return problems;
}

TEST(Majorize, TouchesAtTheAnchor) {
  for (const Problem& problem : MajorizableProblems()) {
    SCOPED_TRACE(problem.name);
    const std::vector<double> anchor = RandomScores(*problem.rows, 1.0, 16);
    const std::unique_ptr<ConstraintSet> majorant = problem.set->Majorize(anchor);
    ASSERT_NE(majorant, nullptr);
    ASSERT_EQ(majorant->size(), problem.set->size());
    EXPECT_TRUE(majorant->convex());
    const std::vector<double> theirs = majorant->Evaluate(anchor).surrogate;
    const std::vector<double> ours = problem.set->Evaluate(anchor).surrogate;
    for (std::size_t j = 0; j < ours.size(); ++j) {
      EXPECT_NEAR(theirs[j], ours[j], 1e-12 * (1.0 + std::abs(ours[j])));
      const auto slope = test::GradientAt(test::OneConstraint(*majorant, j), anchor);
      const auto expected = test::GradientAt(test::OneConstraint(*problem.set, j), anchor);
      const std::vector<double> zero(expected.size(), 0.0);
      EXPECT_LE(Distance(slope, expected), 1e-12 * Distance(expected, zero));
    }
  }
}

TEST(Majorize, BoundsFromAboveAndKeepsTheExactValues) {
  for (const Problem& problem : MajorizableProblems()) {
    SCOPED_TRACE(problem.name);
    const std::vector<double> anchor = RandomScores(*problem.rows, 1.0, 17);
    const std::unique_ptr<ConstraintSet> majorant = problem.set->Majorize(anchor);
    double gap = 0.0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const double spread = 0.1 * std::pow(2.0, static_cast<double>(seed % 8));
      const std::vector<double> scores =
          test::Moved(anchor, RandomScores(*problem.rows, spread, 500 + seed), 1.0);
      const ConstraintValues theirs = majorant->Evaluate(scores);
      const ConstraintValues ours = problem.set->Evaluate(scores);
      for (std::size_t j = 0; j < ours.surrogate.size(); ++j) {
        EXPECT_GE(theirs.surrogate[j],
                  ours.surrogate[j] - 1e-10 * (1.0 + std::abs(ours.surrogate[j])));
        gap = std::max(gap, theirs.surrogate[j] - ours.surrogate[j]);
      }
      EXPECT_EQ(theirs.exact, ours.exact);
      EXPECT_EQ(theirs.worst_exact_violation, ours.worst_exact_violation);
    }
    EXPECT_GT(gap, 1e-3) << "the majorant is the function itself, the test is void";
  }
}

TEST(Majorize, IsConvexAlongLines) {
  for (const Problem& problem : MajorizableProblems()) {
    SCOPED_TRACE(problem.name);
    const std::unique_ptr<ConstraintSet> majorant =
        problem.set->Majorize(RandomScores(*problem.rows, 1.0, 18));
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const std::vector<double> a = RandomScores(*problem.rows, 2.0, 600 + seed);
      const std::vector<double> v = RandomScores(*problem.rows, 1.0, 700 + seed);
      const auto g = [&](double t) { return majorant->Evaluate(test::Moved(a, v, t)).surrogate; };
      const std::vector<double> below = g(-1.0), middle = g(0.0), above = g(1.0);
      for (std::size_t j = 0; j < middle.size(); ++j) {
        EXPECT_GE(above[j] - 2.0 * middle[j] + below[j], -1e-10 * (1.0 + std::abs(above[j])));
      }
    }
  }
}

TEST(Majorize, DerivativesAgreeWithDifferences) {
  for (const Problem& problem : MajorizableProblems()) {
    SCOPED_TRACE(problem.name);
    const RowData& rows = *problem.rows;
    const std::unique_ptr<ConstraintSet> majorant =
        problem.set->Majorize(RandomScores(rows, 1.0, 19));
    const std::vector<double> scores = RandomScores(rows, 1.0, 20);
    test::Random random(21);
    const auto multipliers = test::RandomUniform(majorant->size(), 0.0, 2.0, random);
    const test::Function function = test::Lagrangian(*majorant, multipliers);
    test::ExpectGradient(function, scores);
    test::ExpectHessianBound(function, scores, rows.num_rows(), 22);
    const std::vector<double> g = majorant->Evaluate(scores).surrogate;
    double expected = 0.0;
    for (std::size_t j = 0; j < g.size(); ++j) expected += multipliers[j] * g[j];
    EXPECT_NEAR(test::ValueAt(function, scores), expected, 1e-11 * (1.0 + std::abs(expected)));
  }
}

TEST(Majorize, ItsLipschitzBoundHolds) {
  for (const Problem& problem : MajorizableProblems()) {
    SCOPED_TRACE(problem.name);
    const std::unique_ptr<ConstraintSet> majorant =
        problem.set->Majorize(RandomScores(*problem.rows, 3.0, 23));
    const double bound = majorant->LipschitzBound();
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const std::vector<double> a = RandomScores(*problem.rows, 3.0, 800 + seed);
      const std::vector<double> v = RandomScores(*problem.rows, 0.3, 900 + seed);
      const double moved = Distance(majorant->Evaluate(a).surrogate,
                                    majorant->Evaluate(test::Moved(a, v, 1.0)).surrogate);
      EXPECT_LE(moved, bound * std::sqrt(SquaredNorm(*problem.rows, v)) * (1.0 + 1e-9));
    }
  }
}

TEST(Majorize, NeedsConvexEvents) {
  const RowData binary = BinaryRows(30, 24), four = FourClassRows(30, 24);
  const auto majorant = [](const Texts& texts, const RowData& rows,
                           const SurrogateOptions& options) {
    const std::vector<double> scores(rows.num_rows() * rows.num_scores(), 0.0);
    return RateConstraints(ParseAll(texts), rows, options).Majorize(scores);
  };
  EXPECT_EQ(majorant({"gap(fnr, by=sex) <= 5%"}, binary, {.kind = SurrogateKind::kSigmoid}),
            nullptr);
  EXPECT_EQ(majorant({"error <= 5%"}, four, {.kind = SurrogateKind::kSigmoid}), nullptr);
  EXPECT_EQ(majorant({"gap(fnr, by=sex) <= 5%"}, binary, {.clip = 2.0}), nullptr);
  EXPECT_EQ(majorant({"error <= 5%", "selection_rate(predicted=a) <= 5%"}, four, {}), nullptr);
  EXPECT_NE(majorant({"gap(loss, by=sex) <= 5%"}, four, {.kind = SurrogateKind::kSigmoid}),
            nullptr);  // only losses
}

}  // namespace
}  // namespace bregboost
