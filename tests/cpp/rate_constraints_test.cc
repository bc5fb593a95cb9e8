// Surrogate values and derivatives of rate constraints; what they do not depend on.
#include "bregboost/problem/rate_constraints.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "bregboost/problem/objective.h"
#include "finite_differences.h"
#include "random_problems.h"

namespace bregboost {
namespace {

using test::BinaryRows;
using test::FourClassRows;
using test::ParseAll;
using test::RandomScores;
using test::RegressionRows;

// Every event, alone and in mixtures with coefficients of both signs.
const std::vector<std::string>& BinaryTexts() {
  static const std::vector<std::string> texts = {
      "error <= 30%",
      "fnr(sex=F) <= 30%",
      "selection_rate <= 40%",
      "selection_rate >= 40%",
      "selection_rate(predicted=no, sex=M) <= 40%",
      "loss <= 0.5",
      "disagreement <= 20%",
      "precision >= 60%",
      "gap(fnr, by=sex) <= 5%",
      "ratio(selection_rate, by=race) >= 80%",
      "gap(loss, by=sex) <= 0.05",
      "fnr(sex=F) - 2 * fpr(sex=M) + 0.5 * loss - disagreement <= 10%",
      "accuracy + selection_rate(sex=F) - 0.3 * loss(class=yes) >= 60%"};
  return texts;
}

const std::vector<std::string>& FourClassTexts() {
  static const std::vector<std::string> texts = {
      "error <= 30%",
      "error(class=b, sex=F) <= 30%",
      "selection_rate(predicted=a) <= 20%",
      "selection_rate(predicted=d, sex=M) >= 20%",
      "loss <= 0.5",
      "disagreement <= 20%",
      "precision(predicted=c) >= 60%",
      "gap(error, by=sex) <= 5%",
      "gap(selection_rate(predicted=b), by=sex) <= 5%",
      "gap(loss, by=sex) <= 0.05",
      "balanced_error - 2 * selection_rate(predicted=a) + 0.5 * loss - disagreement <= 10%",
      "accuracy + selection_rate(predicted=c, sex=F) - 0.3 * loss(class=a) >= 60%"};
  return texts;
}

const std::vector<std::string>& RegressionTexts() {
  static const std::vector<std::string> texts = {"loss <= 0.5", "loss(sex=F) <= 0.5",
                                                 "gap(loss, by=race) <= 0.05",
                                                 "loss(sex=F) - 2 * loss(sex=M) <= 0.1"};
  return texts;
}

// Every kind: plain, clipped, at another temperature, both.
std::vector<SurrogateOptions> AllSurrogates() {
  std::vector<SurrogateOptions> all;
  for (const SurrogateKind kind :
       {SurrogateKind::kCrossEntropy, SurrogateKind::kLogisticBase2, SurrogateKind::kHingeSquared,
        SurrogateKind::kHuberisedHinge, SurrogateKind::kSigmoid}) {
    const double clip = kind == SurrogateKind::kSigmoid ? 0.7 : 3.0;
    all.push_back({.kind = kind});
    all.push_back({.kind = kind, .clip = clip});
    all.push_back({.kind = kind, .temperature = 0.4});
    all.push_back({.kind = kind, .temperature = 3.0, .clip = clip});
  }
  return all;
}

std::string Describe(const SurrogateOptions& options) {
  return std::string(Name(options.kind)) + ", temperature " + std::to_string(options.temperature) +
         ", clip " + std::to_string(options.clip);
}

const LossOptions kSquared{.kind = LossKind::kSquared};
const LossOptions kHuber{.kind = LossKind::kHuber, .huber_delta = 0.6};

// Runs `check(constraints, scores, rows)` for every task, event, surrogate and loss.
using Check =
    std::function<void(const RateConstraints&, const std::vector<double>&, const RowData&)>;
void ForEverySet(std::size_t num_rows, const Check& check) {
  for (const bool binary : {true, false}) {
    const RowData rows = binary ? BinaryRows(num_rows, 1) : FourClassRows(num_rows, 1);
    const auto constraints = ParseAll(binary ? BinaryTexts() : FourClassTexts());
    for (const SurrogateOptions& surrogate : AllSurrogates()) {
      SCOPED_TRACE((binary ? "binary, " : "4 classes, ") + Describe(surrogate));
      check(RateConstraints(constraints, rows, surrogate), RandomScores(rows, 1.5, 2), rows);
    }
  }
  const RowData rows = RegressionRows(num_rows, 3);
  for (const LossOptions& loss : {kSquared, kHuber}) {
    SCOPED_TRACE(Name(loss.kind));
    check(RateConstraints(ParseAll(RegressionTexts()), rows, {}, loss), RandomScores(rows, 1.5, 4),
          rows);
  }
}

std::string TextOfRow(const RateConstraints& constraints, std::size_t row) {
  for (const CompiledConstraint& c : constraints.compiled().constraints) {
    if (row < c.first_row + c.num_rows) return ToText(c.source);
  }
  return "?";
}

std::vector<double> RandomMultipliers(const ConstraintSet& constraints, std::uint64_t seed) {
  test::Random random(seed);
  return test::RandomUniform(constraints.size(), 0.0, 2.0, random);
}

// --- Values ---

// A single error-type rate is the mean of the definition in surrogate.h.
TEST(SurrogateValue, FollowsTheDefinitionOfItsKind) {
  for (const RowData& rows : {BinaryRows(60, 5), FourClassRows(60, 5)}) {
    const std::vector<double> scores = RandomScores(rows, 1.5, 6);
    const auto margins = [&](std::size_t i) {  // F_t - F_j over the rivals j; binary: the score
      std::vector<double> result;
      const auto t = static_cast<std::size_t>(rows.labels.codes[i]);
      if (rows.task() == Task::kBinary) return std::vector{t == 1 ? scores[i] : -scores[i]};
      for (std::size_t j = 0; j < 4; ++j) {
        if (j == t) continue;
        result.push_back(test::ScoreOf(rows, scores, t, i) - test::ScoreOf(rows, scores, j, i));
      }
      return result;
    };
    const auto log_loss = [&](std::size_t i, double temperature) {
      double rivals = 0.0;
      for (const double m : margins(i)) rivals += std::exp(-m / temperature);
      return std::log1p(rivals);
    };
    const auto hinge = [&](std::size_t i, bool huberised) {
      double total = 0.0;
      for (const double m : margins(i)) {
        const double square = std::pow(std::max(0.0, 1.0 - m), 2);
        total += huberised && m < -1.0 ? -4.0 * m : square;
      }
      return total;
    };
    const auto expect = [&](const SurrogateOptions& options,
                            const std::function<double(std::size_t)>& event) {
      SCOPED_TRACE(Describe(options));
      double total = 0.0, weight = 0.0;
      for (std::size_t i = 0; i < rows.num_rows(); ++i) {
        total += rows.rate_weight(i) * std::min(event(i), options.clip);
        weight += rows.rate_weight(i);
      }
      const RateConstraints constraints(ParseAll({"error <= 30%"}), rows, options);
      EXPECT_NEAR(constraints.Evaluate(scores).surrogate[0], total / weight - 0.3, 1e-12);
    };
    const double none = std::numeric_limits<double>::infinity();
    for (const double clip : {none, 0.9}) {
      expect({.kind = SurrogateKind::kCrossEntropy, .clip = clip},
             [&](std::size_t i) { return log_loss(i, 1.0); });
      expect({.kind = SurrogateKind::kLogisticBase2, .clip = clip},
             [&](std::size_t i) { return log_loss(i, 1.0) / std::log(2.0); });
      expect({.kind = SurrogateKind::kHingeSquared, .clip = clip},
             [&](std::size_t i) { return hinge(i, false); });
      expect({.kind = SurrogateKind::kHuberisedHinge, .clip = clip},
             [&](std::size_t i) { return hinge(i, true); });
      expect({.kind = SurrogateKind::kSigmoid, .temperature = 0.3, .clip = clip},
             [&](std::size_t i) { return -std::expm1(-log_loss(i, 0.3)); });
    }
  }
}

TEST(SurrogateValue, SelectionOfOneOfFourClassesIsTheSoftmaxAtTheTemperature) {
  const RowData rows = FourClassRows(50, 7);
  const std::vector<double> scores = RandomScores(rows, 1.0, 8);
  double total = 0.0, weight = 0.0;
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    double sum = 0.0;
    for (std::size_t k = 0; k < 4; ++k) sum += std::exp(test::ScoreOf(rows, scores, k, i) / 0.5);
    total += rows.rate_weight(i) * std::exp(test::ScoreOf(rows, scores, 2, i) / 0.5) / sum;
    weight += rows.rate_weight(i);
  }
  const RateConstraints constraints(ParseAll({"selection_rate(predicted=c) <= 20%"}), rows,
                                    {.temperature = 0.5});
  EXPECT_NEAR(constraints.Evaluate(scores).surrogate[0], total / weight - 0.2, 1e-12);
}

TEST(SurrogateValue, LagrangianIsTheWeightedSumOfTheValues) {
  ForEverySet(40,
              [](const RateConstraints& set, const std::vector<double>& scores, const RowData&) {
                const std::vector<double> y = RandomMultipliers(set, 9);
                const std::vector<double> g = set.Evaluate(scores).surrogate;
                const double expected = std::inner_product(y.begin(), y.end(), g.begin(), 0.0);
                EXPECT_NEAR(test::ValueAt(test::Lagrangian(set, y), scores), expected,
                            1e-12 * (1.0 + std::abs(expected)));
              });
}

TEST(SurrogateValue, ExtremeScoresStayFinite) {
  for (const RowData& rows : {BinaryRows(40, 10), FourClassRows(40, 10)}) {
    const bool binary = rows.task() == Task::kBinary;
    const RateConstraints set(ParseAll(binary ? BinaryTexts() : FourClassTexts()), rows);
    std::vector<double> scores = RandomScores(rows, 1.0, 11);
    for (double& score : scores) score = score > 0.0 ? 1e4 : -1e4;
    for (const double g : set.Evaluate(scores).surrogate) EXPECT_TRUE(std::isfinite(g));
    for (const double d :
         test::GradientAt(test::Lagrangian(set, RandomMultipliers(set, 12)), scores)) {
      EXPECT_TRUE(std::isfinite(d));
    }
  }
}

// --- Derivatives ---

TEST(Derivatives, OfEveryConstraintAgreeWithCentralDifferences) {
  ForEverySet(40,
              [](const RateConstraints& set, const std::vector<double>& scores, const RowData&) {
                for (std::size_t j = 0; j < set.size(); ++j) {
                  SCOPED_TRACE(TextOfRow(set, j));
                  test::ExpectGradient(test::OneConstraint(set, j), scores);
                }
              });
}

TEST(Derivatives, OfTheLagrangianAgreeWithCentralDifferences) {
  ForEverySet(40,
              [](const RateConstraints& set, const std::vector<double>& scores, const RowData&) {
                test::ExpectGradient(test::Lagrangian(set, RandomMultipliers(set, 13)), scores);
              });
}

TEST(Derivatives, DiagonalBoundsTheHessian) {
  ForEverySet(
      40, [](const RateConstraints& set, const std::vector<double>& scores, const RowData& rows) {
        for (std::size_t j = 0; j < set.size(); ++j) {
          SCOPED_TRACE(TextOfRow(set, j));
          test::ExpectHessianBound(test::OneConstraint(set, j), scores, rows.num_rows(), 14 + j);
        }
        test::ExpectHessianBound(test::Lagrangian(set, RandomMultipliers(set, 15)), scores,
                                 rows.num_rows(), 16);
      });
}

// One score per row and one convex event: the bound is the second derivative itself.
TEST(Derivatives, DiagonalIsExactForOneConvexEvent) {
  const RowData binary = BinaryRows(40, 17);
  for (const SurrogateKind kind : {SurrogateKind::kCrossEntropy, SurrogateKind::kLogisticBase2,
                                   SurrogateKind::kHingeSquared, SurrogateKind::kHuberisedHinge}) {
    const RateConstraints set(ParseAll({"error <= 30%"}), binary, {.kind = kind});
    EXPECT_NEAR(test::ExpectHessianBound(test::OneConstraint(set, 0), RandomScores(binary, 1.5, 18),
                                         40, 19),
                1.0, 1e-4);
  }
  const RowData numeric = RegressionRows(40, 20);
  const RateConstraints set(ParseAll({"loss <= 30%"}), numeric, {}, kSquared);
  EXPECT_NEAR(
      test::ExpectHessianBound(test::OneConstraint(set, 0), RandomScores(numeric, 1.0, 21), 40, 22),
      1.0, 1e-4);
}

// Beyond delta the second derivative is 0. The diagonal is more than that: enough for the quadratic
// model to lie above the loss, however far away, and no more than touching it needs.
TEST(Derivatives, QuadraticModelLiesAboveHuberLoss) {
  RowData row;
  row.targets = {0.0};
  const RateConstraints set(ParseAll({"loss <= 30%"}), row, {}, kHuber);
  const std::vector<double> y = {1.0};
  const auto value = [&](double score) {
    std::vector<double> gradient = {0.0};
    return set.AddLagrangian(std::vector{score}, y, gradient, {});
  };
  for (const double at : {-40.0, -0.61, -0.6, -0.2, 0.0, 0.5, 0.7, 3.0, 1e6}) {
    SCOPED_TRACE(at);
    std::vector<double> slope = {0.0}, curvature = {0.0};
    const double there = set.AddLagrangian(std::vector{at}, y, slope, curvature);
    const auto model = [&](double score) {
      const double step = score - at;
      return there + slope[0] * step + 0.5 * curvature[0] * step * step;
    };
    for (double score = -50.0; score <= 50.0; score += 0.37) {
      ASSERT_GE(model(score), value(score) - 1e-9 * std::abs(there)) << score;
    }
    EXPECT_NEAR(model(-at), value(-at), 1e-9 * (1.0 + std::abs(there)));
    EXPECT_EQ(curvature[0], std::abs(at) <= 0.6 ? 1.0 : 0.6 / std::abs(at));
  }
}

TEST(Derivatives, HessianIsAddedToWhatIsThere) {
  const RowData rows = FourClassRows(30, 23);
  const RateConstraints set(ParseAll(FourClassTexts()), rows);
  const std::vector<double> scores = RandomScores(rows, 1.0, 24);
  const std::vector<double> y = RandomMultipliers(set, 25);
  std::vector<double> gradient(scores.size(), 0.0), zero(scores.size(), 0.0);
  std::vector<double> one(scores.size(), 1.0);
  set.AddLagrangian(scores, y, gradient, zero);
  set.AddLagrangian(scores, y, gradient, one);
  for (std::size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(one[i], zero[i] + 1.0, 1e-12);
}

TEST(Derivatives, AreTheSameWithoutTheValue) {
  ForEverySet(
      43, [](const RateConstraints& set, const std::vector<double>& scores, const RowData&) {
        const std::vector<double> y = RandomMultipliers(set, 41);
        std::vector<double> gradient(scores.size(), 0.0), hessian = gradient;
        std::vector<double> gradient_alone(scores.size(), 0.0), hessian_alone = gradient_alone;
        set.AddLagrangian(scores, y, gradient, hessian);
        set.AddDerivatives(scores, y, gradient_alone, hessian_alone);
        for (std::size_t i = 0; i < scores.size(); ++i) {
          ASSERT_NEAR(gradient_alone[i], gradient[i], 1e-14);
          ASSERT_NEAR(hessian_alone[i], hessian[i], 1e-14);
        }
        std::vector<double> no_hessian(scores.size(), 0.0);
        set.AddDerivatives(scores, y, no_hessian, {});
        EXPECT_EQ(no_hessian, gradient_alone);
      });
}

// d error / dF_i = weight_i (p_i - y_i) / W, whatever is left over after whole vectors of rows, and
// with nothing written beyond them.
TEST(Derivatives, EveryNumberOfRows) {
  for (std::size_t n = 1; n <= 40; ++n) {
    SCOPED_TRACE(n);
    RowData rows = BinaryRows(n, 42);
    if (n % 2 == 0) rows.rate_weights = rows.weights = {};
    const std::vector<double> scores = RandomScores(rows, 2.0, 43);
    const RateConstraints set(ParseAll({"error <= 30%"}), rows);
    double weight = 0.0;
    for (std::size_t i = 0; i < n; ++i) weight += rows.rate_weight(i);
    std::vector<double> gradient(n, 0.0), alone(n, 0.0), hessian(n, 0.0);
    set.AddLagrangian(scores, std::vector{1.0}, gradient, {});
    set.AddDerivatives(scores, std::vector{1.0}, alone, hessian);
    for (std::size_t i = 0; i < n; ++i) {
      const double p = 1.0 / (1.0 + std::exp(-scores[i]));
      const double share = rows.rate_weight(i) / weight;
      EXPECT_NEAR(gradient[i], share * (p - rows.labels.codes[i]), 1e-15);
      EXPECT_NEAR(alone[i], share * (p - rows.labels.codes[i]), 1e-15);
      EXPECT_NEAR(hessian[i], share * p * (1.0 - p), 1e-15);
    }
  }
}

// --- Weights, order and threads ---

// The rows in the order of `picked`, which may repeat or permute them.
RowData Picked(const RowData& rows, const std::vector<std::size_t>& picked) {
  const auto pick = [&](const auto& values) {
    auto result = values;
    result.clear();
    if (values.empty()) return result;
    for (const std::size_t i : picked) result.push_back(values[i]);
    return result;
  };
  RowData result = rows;
  result.labels.codes = pick(rows.labels.codes);
  result.targets = pick(rows.targets);
  for (CategoricalColumn& group : result.groups) group.codes = pick(group.codes);
  result.weights = pick(rows.weights);
  result.rate_weights = pick(rows.rate_weights);
  result.baseline = pick(rows.baseline);
  return result;
}

std::vector<double> PickedScores(const RowData& rows, const std::vector<double>& scores,
                                 const std::vector<std::size_t>& picked) {
  std::vector<double> result;
  for (std::size_t k = 0; k < rows.num_scores(); ++k) {
    for (const std::size_t i : picked) result.push_back(test::ScoreOf(rows, scores, k, i));
  }
  return result;
}

// Everything that a solver reads of a problem at some scores.
struct Answers {
  std::vector<double> surrogate, exact, measured;
  double worst = 0.0, lipschitz = 0.0, weak_convexity = 0.0, lagrangian = 0.0, objective = 0.0;
  std::vector<double> gradient, hessian, gradient_alone, objective_gradient, objective_hessian;
};

struct Problem {
  std::vector<std::string> texts;
  LossOptions loss;
};

Problem ProblemOf(const RowData& rows) {
  if (rows.task() == Task::kRegression) return {RegressionTexts(), kHuber};
  return {rows.task() == Task::kBinary ? BinaryTexts() : FourClassTexts(), {}};
}

Answers Solve(const RowData& rows, const std::vector<double>& scores) {
  const Problem problem = ProblemOf(rows);
  const RateConstraints set(ParseAll(problem.texts), rows, {}, problem.loss);
  const Objective objective(rows, {.loss = problem.loss});
  Answers answers;
  ConstraintValues values = set.Evaluate(scores);
  answers.surrogate = std::move(values.surrogate);
  answers.exact = std::move(values.exact);
  answers.worst = values.worst_exact_violation;
  for (const Measurement& m : set.Measure(scores)) answers.measured.push_back(m.value);
  answers.lipschitz = set.LipschitzBound();
  answers.weak_convexity = set.WeakConvexityBound();
  const std::vector<double> zero(scores.size(), 0.0);
  answers.gradient = answers.hessian = answers.gradient_alone = zero;
  answers.objective_gradient = answers.objective_hessian = zero;
  answers.lagrangian =
      set.AddLagrangian(scores, RandomMultipliers(set, 26), answers.gradient, answers.hessian);
  set.AddDerivatives(scores, RandomMultipliers(set, 26), answers.gradient_alone, {});
  answers.objective =
      objective.AddDerivatives(scores, 1.0, answers.objective_gradient, answers.objective_hessian);
  return answers;
}

double LargestOf(const std::vector<double>& values) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

// Within 1e-12 of the vector's scale, but of 1 at least where rates cancel against bounds.
void ExpectNear(const std::vector<double>& a, const std::vector<double>& b, double at_least = 1.0) {
  ASSERT_EQ(a.size(), b.size());
  const double tolerance = 1e-12 * std::max(at_least, LargestOf(b));
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << "at " << i;
}

void ExpectNearValues(const Answers& a, const Answers& b) {
  ExpectNear(a.surrogate, b.surrogate);
  ExpectNear(a.exact, b.exact);
  ExpectNear(a.measured, b.measured);
  ExpectNear({a.worst, a.lagrangian}, {b.worst, b.lagrangian});
  EXPECT_NEAR(a.objective, b.objective, 1e-12 * b.objective);
}

// Twelve weights of 2, the rest 1, and the same rows with those twelve repeated.
struct RepeatedRows {
  std::vector<double> twos;
  std::vector<std::size_t> picked;
};

RepeatedRows TwelveRepeated(std::size_t n) {
  RepeatedRows repeated{.twos = std::vector<double>(n, 1.0), .picked = {}};
  for (std::size_t i = 0; i < n; ++i) repeated.picked.push_back(i);
  for (std::size_t i = 1; i < 60; i += 5) {
    repeated.twos[i] = 2.0;
    repeated.picked.push_back(i);
  }
  return repeated;
}

// What the copies of a row get together is what the row gets.
std::vector<double> SumOverCopies(const RowData& rows, const std::vector<double>& of_copies,
                                  const std::vector<std::size_t>& picked) {
  std::vector<double> sum(rows.num_rows() * rows.num_scores(), 0.0);
  for (std::size_t k = 0; k < rows.num_scores(); ++k) {
    for (std::size_t c = 0; c < picked.size(); ++c) {
      sum[k * rows.num_rows() + picked[c]] += of_copies[k * picked.size() + c];
    }
  }
  return sum;
}

std::vector<RowData> EveryTask(std::size_t n) {
  return {BinaryRows(n, 27), FourClassRows(n, 28), RegressionRows(n, 29)};
}

TEST(Weights, OfTwoEqualARepeatedRow) {
  for (RowData rows : EveryTask(120)) {
    const RepeatedRows repeated = TwelveRepeated(120);
    rows.weights.clear();
    rows.rate_weights.clear();
    const std::vector<double> scores = RandomScores(rows, 1.5, 30);
    const Answers copies =
        Solve(Picked(rows, repeated.picked), PickedScores(rows, scores, repeated.picked));
    rows.weights = repeated.twos;
    const Answers weighted = Solve(rows, scores);
    ExpectNearValues(weighted, copies);
    const auto expect_sums = [&](const std::vector<double>& a, const std::vector<double>& b) {
      ExpectNear(a, SumOverCopies(rows, b, repeated.picked), 0.0);
    };
    expect_sums(weighted.gradient, copies.gradient);
    expect_sums(weighted.hessian, copies.hessian);
    expect_sums(weighted.objective_gradient, copies.objective_gradient);
    expect_sums(weighted.objective_hessian, copies.objective_hessian);
    if (std::isfinite(copies.lipschitz)) {
      EXPECT_NEAR(weighted.lipschitz, copies.lipschitz, 1e-9 * copies.lipschitz);
    }
    EXPECT_NEAR(weighted.weak_convexity, copies.weak_convexity, 1e-9 * copies.weak_convexity);
  }
}

TEST(Weights, OfRatesAloneRepeatTheRowInRatesAlone) {
  for (RowData rows : EveryTask(120)) {
    const RepeatedRows repeated = TwelveRepeated(120);
    rows.weights.clear();
    rows.rate_weights.clear();
    const std::vector<double> scores = RandomScores(rows, 1.5, 31);
    const Answers plain = Solve(rows, scores);
    Answers copies =
        Solve(Picked(rows, repeated.picked), PickedScores(rows, scores, repeated.picked));
    rows.rate_weights = repeated.twos;
    const Answers weighted = Solve(rows, scores);
    copies.objective = plain.objective;
    ExpectNearValues(weighted, copies);
    ExpectNear(weighted.gradient, SumOverCopies(rows, copies.gradient, repeated.picked), 0.0);
    EXPECT_EQ(weighted.objective_gradient, plain.objective_gradient);
    EXPECT_NE(weighted.surrogate, plain.surrogate);
  }
}

TEST(Weights, OfTheLossDoNotTouchRatesThatHaveTheirOwn) {
  for (RowData rows : EveryTask(120)) {
    const std::vector<double> scores = RandomScores(rows, 1.5, 32);
    const Answers before = Solve(rows, scores);
    for (double& weight : rows.weights) weight *= weight;
    const Answers after = Solve(rows, scores);
    EXPECT_EQ(after.surrogate, before.surrogate);
    EXPECT_EQ(after.measured, before.measured);
    EXPECT_EQ(after.gradient, before.gradient);
    EXPECT_NE(after.objective, before.objective);
  }
}

TEST(RowOrder, DoesNotMatter) {
  for (const RowData& rows : EveryTask(20'000)) {
    std::vector<std::size_t> order(rows.num_rows());
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), test::Random(33));
    const std::vector<double> scores = RandomScores(rows, 1.5, 34);
    const Answers forward = Solve(rows, scores);
    const Answers shuffled = Solve(Picked(rows, order), PickedScores(rows, scores, order));
    ExpectNearValues(shuffled, forward);
    ExpectNear(SumOverCopies(rows, shuffled.gradient, order), forward.gradient, 0.0);
    ExpectNear(SumOverCopies(rows, shuffled.hessian, order), forward.hessian, 0.0);
    ExpectNear(SumOverCopies(rows, shuffled.objective_gradient, order), forward.objective_gradient,
               0.0);
  }
}

TEST(Threads, DoNotChangeABit) {
  const int threads_before = omp_get_max_threads();
  for (const RowData& rows : EveryTask(20'000)) {
    const std::vector<double> scores = RandomScores(rows, 1.5, 35);
    omp_set_num_threads(1);
    const Answers one = Solve(rows, scores);
    for (const int threads : {2, 3}) {
      omp_set_num_threads(threads);
      const Answers several = Solve(rows, scores);
      EXPECT_EQ(several.surrogate, one.surrogate);
      EXPECT_EQ(several.exact, one.exact);
      EXPECT_EQ(several.measured, one.measured);
      EXPECT_EQ(several.lagrangian, one.lagrangian);
      EXPECT_EQ(several.objective, one.objective);
      EXPECT_TRUE(several.gradient == one.gradient);
      EXPECT_TRUE(several.hessian == one.hessian);
      EXPECT_TRUE(several.gradient_alone == one.gradient_alone);
      EXPECT_TRUE(several.objective_gradient == one.objective_gradient);
      EXPECT_TRUE(several.objective_hessian == one.objective_hessian);
    }
  }
  omp_set_num_threads(threads_before);
}

// --- Bad input ---

void ExpectError(const std::function<void()>& call, const std::string& message) {
  try {
    call();
    FAIL() << "no error; expected: " << message;
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(error.what(), message);
  }
}

TEST(RateConstraintsError, SizesOfArguments) {
  const RowData rows = BinaryRows(10, 36);
  RateConstraints set(ParseAll({"fnr <= 5%", "fpr <= 5%"}), rows,
                      {.bound_rule = SurrogateBoundRule::kUniformThenCurrent});
  std::vector<double> ten(10, 0.0), nine(9, 0.0), two(2, 0.0);
  const std::string nine_scores = "scores: 9 values; allowed: 10, one for each row";
  ExpectError([&] { set.Evaluate(nine); }, nine_scores);
  ExpectError([&] { set.Measure(nine); }, nine_scores);
  ExpectError([&] { set.Majorize(nine); }, nine_scores);
  ExpectError([&] { set.UpdateBounds(1.0, nine); }, nine_scores);
  ExpectError([&] { set.AddLagrangian(nine, two, ten, {}); }, nine_scores);
  ExpectError([&] { set.AddLagrangian(ten, two, nine, {}); },
              "gradient: 9 values; allowed: 10, one for each row");
  ExpectError([&] { set.AddLagrangian(ten, two, ten, nine); },
              "hessian: 9 values; allowed: 10, one for each row");
  ExpectError([&] { set.AddDerivatives(nine, two, ten, {}); }, nine_scores);
  ExpectError([&] { set.AddDerivatives(ten, nine, ten, {}); },
              "multipliers: 9 values; allowed: 2, one for each constraint row");
  ExpectError([&] { set.AddLagrangian(ten, nine, ten, {}); },
              "multipliers: 9 values; allowed: 2, one for each constraint row");
  const std::unique_ptr<ConstraintSet> majorizer = set.Majorize(ten);
  ExpectError([&] { majorizer->Evaluate(nine); }, nine_scores);
  ExpectError([&] { majorizer->AddLagrangian(ten, nine, ten, {}); },
              "multipliers: 9 values; allowed: 2, one for each constraint row");
  const RowData four = FourClassRows(10, 36);
  ExpectError([&] { RateConstraints(ParseAll({"error <= 5%"}), four).Evaluate(ten); },
              "scores: 10 values; allowed: 40, one for each row and class");
}

TEST(RateConstraintsError, LossThatDoesNotFitTheTarget) {
  const RowData numeric = RegressionRows(10, 37);
  ExpectError([&] { RateConstraints(ParseAll({"loss <= 1"}), numeric); },
              "loss: 'cross_entropy' on a numeric target; allowed: squared, huber");
  const RowData binary = BinaryRows(10, 37);
  ExpectError([&] { RateConstraints(ParseAll({"loss <= 1"}), binary, {}, kSquared); },
              "loss: 'squared' on a class label; allowed: cross_entropy");
  EXPECT_NO_THROW(RateConstraints({}, numeric));  // nothing is asked of the loss
}

TEST(RateConstraints, WithoutConstraints) {
  for (const RowData& rows : EveryTask(20)) {
    const RateConstraints set({}, rows);
    const std::vector<double> scores = RandomScores(rows, 1.0, 38);
    EXPECT_EQ(set.size(), 0U);
    EXPECT_TRUE(set.Evaluate(scores).surrogate.empty());
    EXPECT_EQ(set.Evaluate(scores).worst_exact_violation, 0.0);
    EXPECT_EQ(test::GradientAt(test::Lagrangian(set, {}), scores),
              std::vector<double>(scores.size(), 0.0));
    EXPECT_TRUE(set.convex());
    EXPECT_EQ(set.LipschitzBound(), 0.0);
  }
}

TEST(RateConstraints, SurvivesAMove) {
  const RowData rows = BinaryRows(30, 39);
  const std::vector<double> scores = RandomScores(rows, 1.0, 40);
  RateConstraints first(ParseAll(BinaryTexts()), rows);
  const std::vector<double> before = first.Evaluate(scores).surrogate;
  const RateConstraints second = std::move(first);
  EXPECT_EQ(second.Evaluate(scores).surrogate, before);
}

}  // namespace
}  // namespace bregboost
