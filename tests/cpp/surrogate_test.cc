// Surrogates as bounds of the 0-1 events, and what bound rules make of a constraint's bound.
#include "bregboost/problem/surrogate.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
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
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// --- Options ---

template <class Options>
std::string ErrorOf(const Options& options) {
  try {
    Validate(options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(SurrogateOptions, Validate) {
  EXPECT_EQ(ErrorOf(SurrogateOptions{}), "no error");
  EXPECT_EQ(ErrorOf(SurrogateOptions{.temperature = 0.1, .clip = 2.0}), "no error");
  EXPECT_EQ(ErrorOf(SurrogateOptions{.temperature = 0.0}),
            "temperature: 0; allowed: a finite number above 0");
  EXPECT_EQ(ErrorOf(SurrogateOptions{.temperature = kInfinity}),
            "temperature: inf; allowed: a finite number above 0");
  EXPECT_EQ(ErrorOf(SurrogateOptions{.temperature = kNaN}),
            "temperature: nan; allowed: a finite number above 0");
  EXPECT_EQ(ErrorOf(SurrogateOptions{.clip = -1.0}), "clip: -1; allowed: any number above 0");
  EXPECT_EQ(ErrorOf(SurrogateOptions{.clip = kNaN}), "clip: nan; allowed: any number above 0");
}

TEST(LossOptions, Validate) {
  EXPECT_EQ(ErrorOf(LossOptions{}), "no error");
  EXPECT_EQ(ErrorOf(LossOptions{.huber_delta = 0.0}),
            "huber_delta: 0; allowed: a finite number above 0");
  EXPECT_EQ(ErrorOf(LossOptions{.huber_delta = kInfinity}),
            "huber_delta: inf; allowed: a finite number above 0");
}

TEST(SurrogateOptions, AreValidatedByTheConstraints) {
  const RowData rows = BinaryRows(10, 1);
  EXPECT_THROW(RateConstraints({}, rows, {.temperature = -1.0}), std::invalid_argument);
  EXPECT_THROW(RateConstraints({}, rows, {}, {.huber_delta = -1.0}), std::invalid_argument);
}

template <class Enum>
void ExpectDistinctNames(int last) {
  std::set<std::string_view> names;
  for (int i = 0; i <= last; ++i) names.insert(Name(static_cast<Enum>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(last) + 1);
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(SurrogateOptions, NamesAreDistinct) {
  ExpectDistinctNames<SurrogateKind>(static_cast<int>(SurrogateKind::kSigmoid));
  ExpectDistinctNames<SurrogateBoundRule>(static_cast<int>(SurrogateBoundRule::kNegativeLog));
  ExpectDistinctNames<LossKind>(static_cast<int>(LossKind::kHuber));
}

// --- Bounds of the 0-1 event ---

// Every row is a group of its own, so that each row's event is one row of g.
RowData WithIds(RowData rows) {
  CategoricalColumn id{.name = "id", .levels = {}, .codes = {}};
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    id.levels.push_back(std::to_string(i));
    id.codes.push_back(static_cast<std::int32_t>(i));
  }
  rows.groups = {id};
  return rows;
}

// The smallest surrogate minus 0-1 event over rows and draws, where the event happens.
double SmallestExcess(const RowData& rows, const std::vector<std::string>& texts,
                      SurrogateKind kind) {
  const RateConstraints set(ParseAll(texts), rows, {.kind = kind});
  double smallest = kInfinity;
  for (const double spread : {0.01, 0.5, 3.0, 100.0}) {
    const ConstraintValues values = set.Evaluate(RandomScores(rows, spread, 2));
    for (std::size_t j = 0; j < values.exact.size(); ++j) {
      const double event = values.exact[j] + set.compiled().bounds[j];
      const double surrogate = values.surrogate[j] + set.compiled().bounds[j];
      EXPECT_GE(surrogate, -1e-12);  // at least the event where it does not happen
      if (event > 0.5) smallest = std::min(smallest, surrogate - event);
    }
  }
  return smallest;
}

TEST(SurrogateBound, IsAtLeastTheEvent) {
  const RowData binary = WithIds(BinaryRows(200, 3));
  const RowData four = WithIds(FourClassRows(200, 4));
  const std::vector<std::string> events = {"max(error, by=id) <= 50%",
                                           "max(disagreement, by=id) <= 50%"};
  std::vector<std::string> binary_events = events;
  binary_events.emplace_back("max(selection_rate, by=id) <= 50%");
  binary_events.emplace_back("max(selection_rate(predicted=no), by=id) <= 50%");
  for (const SurrogateKind kind : {SurrogateKind::kLogisticBase2, SurrogateKind::kHingeSquared,
                                   SurrogateKind::kHuberisedHinge}) {
    SCOPED_TRACE(Name(kind));
    EXPECT_GE(SmallestExcess(binary, binary_events, kind), -1e-12);
    EXPECT_GE(SmallestExcess(four, events, kind), -1e-12);
  }
  // These make no such claim, and do not hold it.
  EXPECT_LT(SmallestExcess(binary, binary_events, SurrogateKind::kCrossEntropy), -0.1);
  EXPECT_LT(SmallestExcess(binary, binary_events, SurrogateKind::kSigmoid), -0.1);
}

TEST(SurrogateBound, SigmoidNearsTheEventAsTheTemperatureFalls) {
  for (const RowData& rows : {BinaryRows(300, 5), FourClassRows(300, 5)}) {
    const std::vector<double> scores = RandomScores(rows, 1.0, 6);
    const auto distance = [&](double temperature) {
      const RateConstraints set(
          ParseAll({"error <= 50%", "disagreement <= 50%",
                    "selection_rate(predicted=" + rows.labels.levels[0] + ") <= 50%"}),
          rows, {.kind = SurrogateKind::kSigmoid, .temperature = temperature});
      const ConstraintValues values = set.Evaluate(scores);
      double largest = 0.0;
      for (std::size_t j = 0; j < 3; ++j) {
        largest = std::max(largest, std::abs(values.surrogate[j] - values.exact[j]));
      }
      return largest;
    };
    EXPECT_LT(distance(1e-4), 1e-3);
    EXPECT_GT(distance(1.0), 1e-2);
  }
}

// --- Bounds of the derivatives ---

// One row, so that a constraint's derivatives are those of one event.
RowData OneRow(std::size_t num_classes) {
  RowData rows;
  if (num_classes == 0) {
    rows.targets = {0.0};
    return rows;
  }
  rows.labels.codes = {0};
  for (std::size_t k = 0; k < num_classes; ++k) {
    rows.labels.levels.emplace_back(1, static_cast<char>('a' + k));
  }
  return rows;
}

// Largest gradient and largest hessian eigenvalue over scores of many sizes, some of which leave
// only two classes in play: that is where softmax is steepest.
DerivativeBounds LargestDerivatives(const RateConstraints& set, std::size_t num_scores) {
  constexpr double kStep = 1e-5;
  const auto size = static_cast<Eigen::Index>(num_scores);
  const test::Function g = test::OneConstraint(set, 0);
  DerivativeBounds largest;
  test::Random random(1);
  for (int draw = 0; draw < 2000; ++draw) {
    std::vector<double> scores = test::RandomNormal(num_scores, draw % 2 == 0 ? 0.7 : 5.0, random);
    if (draw % 4 < 2) {
      for (std::size_t k = 2; k < num_scores; ++k) scores[k] -= 50.0;
    }
    Eigen::MatrixXd hessian(size, size);
    for (std::size_t k = 0; k < num_scores; ++k) {
      std::vector<double> unit(num_scores, 0.0);
      unit[k] = 1.0;
      const auto above = test::GradientAt(g, test::Moved(scores, unit, kStep));
      const auto below = test::GradientAt(g, test::Moved(scores, unit, -kStep));
      for (std::size_t j = 0; j < num_scores; ++j) {
        hessian(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(k)) =
            (above[j] - below[j]) / (2.0 * kStep);
      }
    }
    const auto gradient = test::GradientAt(g, scores);
    largest.slope =
        std::max(largest.slope, Eigen::Map<const Eigen::VectorXd>(gradient.data(), size).norm());
    const Eigen::MatrixXd symmetric = 0.5 * (hessian + hessian.transpose());
    const auto eigenvalues =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(symmetric, Eigen::EigenvaluesOnly)
            .eigenvalues();
    largest.curvature = std::max(largest.curvature, eigenvalues.cwiseAbs().maxCoeff());
  }
  return largest;
}

// `bounds` hold and are attained, the curvature to a share of `tightness`.
void ExpectBounds(const DerivativeBounds& bounds, const DerivativeBounds& largest,
                  double tightness = 0.97) {
  EXPECT_LE(largest.slope, bounds.slope * (1.0 + 1e-9));
  EXPECT_LE(largest.curvature, bounds.curvature * (1.0 + 1e-5));
  if (std::isfinite(bounds.slope)) {
    EXPECT_GE(largest.slope, 0.97 * bounds.slope);
  }
  EXPECT_GE(largest.curvature, tightness * bounds.curvature);
}

TEST(DerivativeBounds, OfMissesHoldAndAreAttained) {
  for (const std::size_t num_classes : {2U, 4U}) {
    const RowData rows = OneRow(num_classes);
    for (const SurrogateKind kind :
         {SurrogateKind::kCrossEntropy, SurrogateKind::kLogisticBase2, SurrogateKind::kHingeSquared,
          SurrogateKind::kHuberisedHinge, SurrogateKind::kSigmoid}) {
      for (const double temperature : {1.0, 0.5}) {
        SCOPED_TRACE(std::string(Name(kind)) + ", classes: " + std::to_string(num_classes));
        const SurrogateOptions options{.kind = kind, .temperature = temperature};
        const RateConstraints set(ParseAll({"error <= 50%"}), rows, options);
        const bool softmax = kind == SurrogateKind::kSigmoid && num_classes > 2;
        ExpectBounds(MissBounds(options, num_classes), LargestDerivatives(set, rows.num_scores()),
                     softmax ? 0.3 : 0.97);
      }
    }
  }
}

TEST(DerivativeBounds, OfSelectionHoldAndAreAttained) {
  const RowData rows = OneRow(4);
  for (const double temperature : {1.0, 0.5}) {
    const SurrogateOptions options{.temperature = temperature};
    const RateConstraints set(ParseAll({"selection_rate(predicted=a) <= 50%"}), rows, options);
    ExpectBounds(SelectionBounds(options), LargestDerivatives(set, 4), 0.3);
  }
}

TEST(DerivativeBounds, OfLossesHoldAndAreAttained) {
  for (const std::size_t num_classes : {2U, 4U}) {
    const RowData rows = OneRow(num_classes);
    const RateConstraints set(ParseAll({"loss <= 0.5"}), rows);
    ExpectBounds(LossBounds({}, num_classes), LargestDerivatives(set, rows.num_scores()));
  }
  const RowData rows = OneRow(0);
  for (const LossOptions& loss : {LossOptions{.kind = LossKind::kSquared},
                                  LossOptions{.kind = LossKind::kHuber, .huber_delta = 0.3}}) {
    const RateConstraints set(ParseAll({"loss <= 0.5"}), rows, {}, loss);
    ExpectBounds(LossBounds(loss, 0), LargestDerivatives(set, 1));
  }
}

// --- Bound rules ---

// What stands in the place of the bound: the rule's surrogate rows against those of kSame.
std::vector<double> BoundsOf(const RateConstraints& set, const RateConstraints& same,
                             const std::vector<double>& scores) {
  const ConstraintValues by_rule = set.Evaluate(scores), plain = same.Evaluate(scores);
  EXPECT_EQ(by_rule.exact, plain.exact);
  std::vector<double> bounds;
  for (std::size_t j = 0; j < set.size(); ++j) {
    bounds.push_back(plain.surrogate[j] + same.compiled().bounds[j] - by_rule.surrogate[j]);
  }
  return bounds;
}

struct Ruled {
  Ruled(const std::vector<std::string>& texts, const RowData& rows, SurrogateKind kind,
        SurrogateBoundRule rule, const LossOptions& loss = {})
      : set(ParseAll(texts), rows, {.kind = kind, .bound_rule = rule}, loss),
        same(ParseAll(texts), rows, {.kind = kind}, loss) {}
  std::vector<double> Bounds(const std::vector<double>& scores) const {
    return BoundsOf(set, same, scores);
  }
  RateConstraints set, same;
};

void ExpectNear(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t j = 0; j < actual.size(); ++j) EXPECT_NEAR(actual[j], expected[j], 1e-12) << j;
}

constexpr auto kUniform = SurrogateBoundRule::kUniformThenCurrent;
constexpr auto kNegativeLog = SurrogateBoundRule::kNegativeLog;
constexpr auto kCrossEntropy = SurrogateKind::kCrossEntropy;

TEST(BoundRule, UniformStartsAtTheLossOfGuessing) {
  const RowData binary = BinaryRows(60, 7), four = FourClassRows(60, 7);
  const std::vector<std::string> texts = {"error <= 20%", "disagreement <= 5%", "accuracy >= 70%",
                                          "balanced_error <= 10%"};
  const auto expect = [&](const RowData& rows, SurrogateKind kind, double loss_of_guessing) {
    const Ruled ruled(texts, rows, kind, kUniform);
    const double u = loss_of_guessing;
    ExpectNear(ruled.Bounds(RandomScores(rows, 1.0, 8)), {0.2 * u, 0.05 * u, 0.3 * u, 0.1 * u});
    // That loss is the surrogate's own at equal scores.
    const std::vector<double> equal(rows.num_rows() * rows.num_scores(), 0.0);
    EXPECT_NEAR(ruled.same.Evaluate(equal).surrogate[0] + 0.2, u, 1e-12);
  };
  expect(binary, kCrossEntropy, std::log(2.0));
  expect(four, kCrossEntropy, std::log(4.0));
  expect(binary, SurrogateKind::kLogisticBase2, 1.0);
  expect(four, SurrogateKind::kLogisticBase2, 2.0);
  expect(binary, SurrogateKind::kHingeSquared, 1.0);
  expect(four, SurrogateKind::kHuberisedHinge, 3.0);
  expect(binary, SurrogateKind::kSigmoid, 0.5);
  expect(four, SurrogateKind::kSigmoid, 0.75);
}

// The mean cross-entropy of predicting `target(i)` over the rows inside.
double MeanLoss(const RowData& rows, const std::vector<double>& scores,
                const std::function<std::int32_t(std::size_t)>& target,
                const std::function<bool(std::size_t)>& inside) {
  double total = 0.0, weight = 0.0;
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    if (!inside(i)) continue;
    total += rows.rate_weight(i) *
             test::CrossEntropyOf(rows, scores, static_cast<std::size_t>(target(i)), i);
    weight += rows.rate_weight(i);
  }
  return total / weight;
}

TEST(BoundRule, UniformFollowsTheCurrentLossFromHalfway) {
  const RowData rows = BinaryRows(80, 9);
  const std::vector<double> scores = RandomScores(rows, 1.0, 10);
  Ruled ruled({"fnr <= 5%", "fpr(sex=F) <= 20%", "tpr >= 90%"}, rows, kCrossEntropy, kUniform);
  const std::vector<double> uniform = ruled.Bounds(scores);
  EXPECT_FALSE(ruled.set.UpdateBounds(0.0, scores));
  EXPECT_FALSE(ruled.set.UpdateBounds(0.49, scores));
  ExpectNear(ruled.Bounds(scores), uniform);

  EXPECT_TRUE(ruled.set.UpdateBounds(0.5, scores));
  const auto label = [&](std::size_t i) { return rows.labels.codes[i]; };
  const double of_yes = MeanLoss(rows, scores, label, [&](std::size_t i) { return label(i) == 1; });
  const double of_no_f = MeanLoss(rows, scores, label, [&](std::size_t i) {
    return label(i) == 0 && rows.groups[0].codes[i] == 0;
  });
  const std::vector<double> current = {0.05 * of_yes, 0.2 * of_no_f, 0.1 * of_yes};
  ExpectNear(ruled.Bounds(scores), current);

  const std::vector<double> later = RandomScores(rows, 3.0, 11);
  EXPECT_FALSE(ruled.set.UpdateBounds(0.6, later));  // once
  EXPECT_FALSE(ruled.set.UpdateBounds(1.0, later));
  ExpectNear(ruled.Bounds(later), current);
}

// K classes: the loss of all rows, whatever the subset.
TEST(BoundRule, UniformFollowsTheLossOfAllRowsOnFourClasses) {
  const RowData rows = FourClassRows(80, 12);
  const std::vector<double> scores = RandomScores(rows, 1.0, 13);
  Ruled ruled({"error(class=a) <= 5%", "error <= 20%"}, rows, kCrossEntropy, kUniform);
  EXPECT_TRUE(ruled.set.UpdateBounds(0.7, scores));
  const double mean = MeanLoss(
      rows, scores, [&](std::size_t i) { return rows.labels.codes[i]; },
      [](std::size_t) { return true; });
  ExpectNear(ruled.Bounds(scores), {0.05 * mean, 0.2 * mean});
}

// The loss of disagreeing is measured against the baseline, also when no error is constrained.
TEST(BoundRule, UniformFollowsTheLossAgainstTheBaseline) {
  for (const RowData& rows : {BinaryRows(80, 14), FourClassRows(80, 14)}) {
    const std::vector<double> scores = RandomScores(rows, 1.0, 15);
    Ruled ruled({"disagreement <= 10%"}, rows, kCrossEntropy, kUniform);
    EXPECT_TRUE(ruled.set.UpdateBounds(0.5, scores));
    const double mean = MeanLoss(
        rows, scores, [&](std::size_t i) { return rows.baseline[i]; },
        [](std::size_t) { return true; });
    ExpectNear(ruled.Bounds(scores), {0.1 * mean});
  }
}

TEST(BoundRule, NegativeLog) {
  const std::vector<std::string> texts = {"error <= 20%", "accuracy >= 95%", "error <= 0%"};
  for (const RowData& rows : {BinaryRows(60, 16), FourClassRows(60, 16)}) {
    const std::vector<double> scores = RandomScores(rows, 1.0, 17);
    Ruled nats(texts, rows, kCrossEntropy, kNegativeLog);
    ExpectNear(nats.Bounds(scores), {-std::log(0.8), -std::log(0.95), 0.0});
    EXPECT_FALSE(nats.set.UpdateBounds(1.0, scores));
    const Ruled bits(texts, rows, SurrogateKind::kLogisticBase2, kNegativeLog);
    ExpectNear(bits.Bounds(scores), {-std::log2(0.8), -std::log2(0.95), 0.0});
  }
}

TEST(BoundRule, NegativeLogOfEverythingIsFinite) {
  const RowData rows = BinaryRows(60, 18);
  const Ruled ruled({"error <= 100%"}, rows, kCrossEntropy, kNegativeLog);
  const double bound = ruled.Bounds(RandomScores(rows, 1.0, 19))[0];
  EXPECT_GT(bound, 20.0);
  EXPECT_TRUE(std::isfinite(bound));
}

// The bound of 2 * fnr <= 10% is twice that of fnr <= 5%.
TEST(BoundRule, ScalesWithTheRate) {
  const RowData rows = BinaryRows(60, 20);
  const std::vector<double> scores = RandomScores(rows, 1.0, 21);
  for (const SurrogateBoundRule rule : {kUniform, kNegativeLog}) {
    SCOPED_TRACE(Name(rule));
    Ruled ruled({"fnr <= 5%", "2 * fnr <= 10%", "-3 * tpr <= -285%"}, rows, kCrossEntropy, rule);
    for (const double progress : {0.0, 1.0}) {
      ruled.set.UpdateBounds(progress, scores);
      const std::vector<double> bounds = ruled.Bounds(scores);
      ExpectNear(bounds, {bounds[0], 2.0 * bounds[0], 3.0 * bounds[0]});
    }
  }
}

TEST(BoundRule, NegativeLogNeedsALogarithm) {
  const RowData rows = BinaryRows(20, 22);
  for (const SurrogateKind kind :
       {SurrogateKind::kHingeSquared, SurrogateKind::kHuberisedHinge, SurrogateKind::kSigmoid}) {
    try {
      const RateConstraints set(ParseAll({"fnr <= 5%"}), rows,
                                {.kind = kind, .bound_rule = kNegativeLog});
      FAIL() << "no error";
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()), "bound_rule: 'negative_log' with surrogate '" +
                                               std::string(Name(kind)) +
                                               "'; allowed: cross_entropy, logistic_base2");
    }
  }
}

void ExpectUntouched(const std::vector<std::string>& texts, const RowData& rows,
                     const LossOptions& loss = {}) {
  const std::vector<double> scores = RandomScores(rows, 1.0, 23);
  for (const SurrogateBoundRule rule : {kUniform, kNegativeLog}) {
    SCOPED_TRACE(Name(rule));
    Ruled ruled(texts, rows, kCrossEntropy, rule, loss);
    for (const double progress : {0.0, 1.0}) {
      ruled.set.UpdateBounds(progress, scores);
      ExpectNear(ruled.Bounds(scores), ruled.same.compiled().bounds);
    }
  }
}

// Rules speak of the bound of one error rate: not of losses, differences, sums or quotients, nor of
// the softmax share that stands for selecting one of several classes.
TEST(BoundRule, LeavesOtherConstraintsAlone) {
  ExpectUntouched({"loss <= 0.5", "max(loss, by=sex) <= 0.6", "gap(fnr, by=sex) <= 5%",
                   "ratio(selection_rate, by=sex) >= 80%", "precision >= 60%",
                   "fnr(sex=F) - fnr(sex=M) <= 5%", "fnr + fpr <= 50%", "gap(loss, by=sex) <= 0.1"},
                  BinaryRows(60, 24));
  ExpectUntouched({"selection_rate(predicted=a) <= 20%", "selection_rate(predicted=a) >= 5%",
                   "loss <= 0.5", "gap(error, by=class) <= 5%", "precision(predicted=b) >= 60%"},
                  FourClassRows(60, 24));
  ExpectUntouched({"loss <= 0.5", "gap(loss, by=sex) <= 0.1"}, RegressionRows(60, 24),
                  {.kind = LossKind::kSquared});
}

TEST(BoundRule, LeavesUndefinedRatesUndefined) {
  RowData rows = BinaryRows(60, 27);
  rows.groups[0].levels.emplace_back("X");
  const std::vector<double> scores = RandomScores(rows, 1.0, 28);
  RateConstraints set(ParseAll({"fnr(sex=X) <= 5%", "fnr <= 5%"}), rows, {.bound_rule = kUniform},
                      {}, EmptySubsetPolicy::kUndefined);
  EXPECT_TRUE(set.UpdateBounds(0.5, scores));
  EXPECT_TRUE(std::isnan(set.Evaluate(scores).surrogate[0]));
  EXPECT_TRUE(std::isfinite(set.Evaluate(scores).surrogate[1]));
}

// A miss of the other class is a surrogate like any other, so these have rules in a binary task.
TEST(BoundRule, AppliesToGroupsAndToBinarySelection) {
  const RowData rows = BinaryRows(60, 25);
  const Ruled ruled({"max(fnr, by=sex) <= 5%", "selection_rate <= 10%", "selection_rate >= 5%"},
                    rows, kCrossEntropy, kNegativeLog);
  ExpectNear(ruled.Bounds(RandomScores(rows, 1.0, 26)),
             {-std::log(0.95), -std::log(0.95), -std::log(0.9), -std::log(0.05)});
}

}  // namespace
}  // namespace bregboost
