// Boosted learners under ABPP and CBPR on problems whose answers are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "boosted_kits.h"
#include "bregboost/problem/objective.h"
#include "bregboost/problem/rate_constraints.h"
#include "bregboost/solve/abpp.h"
#include "bregboost/solve/cbpr.h"
#include "learners/detail/no_constraints.h"

namespace bregboost {
namespace {

using detail::NoConstraints;
using testing::GeneratedData;
using testing::Iterations;
using testing::LightGbmKit;
using testing::MakeDataset;
using testing::Parse;
using testing::Scores;
using testing::XgboostKit;

template <class Kit>
class KnownAnswers : public testing::GbmTest<typename Kit::Api> {};
using Kits = ::testing::Types<LightGbmKit, XgboostKit>;
TYPED_TEST_SUITE(KnownAnswers, Kits);

// One feature of five values; rows of a value differ in their labels only, so that trees can give
// each value its own score and nothing else.
struct ByValue {
  GeneratedData data;
  std::vector<double> positives, negatives;  // of each value
};

ByValue FiveValues() {
  ByValue problem;
  problem.positives = {4, 30, 25, 60, 81};
  problem.negatives = {96, 70, 25, 40, 19};
  std::vector<std::string> labels;
  for (std::size_t v = 0; v < 5; ++v) {
    const auto rows = static_cast<std::size_t>(problem.positives[v] + problem.negatives[v]);
    for (std::size_t i = 0; i < rows; ++i) {
      problem.data.features.push_back(static_cast<double>(v));
      labels.emplace_back(static_cast<double>(i) < problem.positives[v] ? "1" : "0");
    }
  }
  problem.data.num_features = 1;
  problem.data.rows.labels = EncodeColumn("label", labels);
  return problem;
}

struct Answer {
  std::vector<double> scores;  // of each value
  double multiplier = 0.0;
};

// min mean log-loss s.t. (mean over class 1 of log(1 + e^-F)) <= bound. For a multiplier y class 1
// weighs 1/n + y/n_1 and class 0 1/n, so value v has the score log(n_1v (1 + y n / n_1) / n_0v);
// the constraint falls in y, and bisection finds where it is met.
Answer KnownAnswer(const ByValue& problem, double bound) {
  const double n_1 = std::accumulate(problem.positives.begin(), problem.positives.end(), 0.0);
  const double n = n_1 + std::accumulate(problem.negatives.begin(), problem.negatives.end(), 0.0);
  const auto at = [&](double y) {
    Answer answer{.scores = {}, .multiplier = y};
    for (std::size_t v = 0; v < 5; ++v) {
      answer.scores.push_back(
          std::log(problem.positives[v] * (1.0 + y * n / n_1) / problem.negatives[v]));
    }
    return answer;
  };
  const auto constraint = [&](const Answer& answer) {
    double total = 0.0;
    for (std::size_t v = 0; v < 5; ++v) {
      total += problem.positives[v] * std::log1p(std::exp(-answer.scores[v]));
    }
    return total / n_1 - bound;
  };
  if (constraint(at(0.0)) <= 0.0) return at(0.0);
  double low = 0.0;
  double high = 100.0;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    (constraint(at(middle)) > 0.0 ? low : high) = middle;
  }
  return at(0.5 * (low + high));
}

template <class Kit>
void ExpectKnownAnswer(double bound, const AbppOptions& options) {
  const ByValue problem = FiveValues();
  const Answer answer = KnownAnswer(problem, bound);
  const Objective objective(problem.data.rows, {});
  RateConstraints constraints(Parse({"fnr <= " + std::to_string(bound)}), problem.data.rows);
  const auto train = MakeDataset<Kit>(problem.data, Kit::NewtonParameters());
  const auto learner = Kit::Learner(train, objective, {.parameters = Kit::NewtonParameters()});
  const AbppResult result = SolveAbpp(*learner, constraints, options);
  ASSERT_EQ(result.multipliers.size(), 1U);
  EXPECT_TRUE(std::isfinite(result.multipliers[0]));
  EXPECT_NEAR(result.multipliers[0], answer.multiplier, 2e-3 * (1.0 + answer.multiplier));
  if (answer.multiplier == 0.0) {
    EXPECT_EQ(result.multipliers[0], 0.0);
  }
  EXPECT_LE(result.stats.surrogate_violation, 1e-3);
  const Scores scores = Kit::Predict(learner->Model(), problem.data);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto value = static_cast<std::size_t>(problem.data.features[i]);
    ASSERT_NEAR(scores[i], answer.scores[value], 5e-3) << "value " << value;
  }
}

TYPED_TEST(KnownAnswers, AbppReachesTheKnownAnswer) {
  ExpectKnownAnswer<TypeParam>(0.35, Iterations(600));  // binds
}

TYPED_TEST(KnownAnswers, AbppLeavesASlackConstraintAlone) {
  ExpectKnownAnswer<TypeParam>(0.9, Iterations(300));
}

TYPED_TEST(KnownAnswers, CbprNarrowsAGapThatPlainBoostingLeavesOpen) {
  const GeneratedData data = testing::TwoGroups(1200, 24);
  const Objective objective(data.rows, {});
  RateConstraints constraints(Parse({"gap(loss, by=group) <= 0.05"}), data.rows);
  const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  const auto plain = TypeParam::Learner(train, objective, {.parameters = TypeParam::Parameters()});
  NoConstraints none;
  SolveAbpp(*plain, none, Iterations(30));
  const double open = plain->Evaluate(constraints).constraints.worst_exact_violation;
  ASSERT_GT(open, 0.05);
  const auto learner =
      TypeParam::Learner(train, objective, {.parameters = TypeParam::Parameters()});
  CbprOptions options;
  options.form = CbprForm::kLinearized;
  options.max_outer_iterations = 20;
  options.subproblem.termination.max_iterations = 15;
  options.feasibility.subproblem.termination.max_iterations = 50;
  const CbprResult result = SolveCbpr(*learner, constraints, options);
  for (const double y : result.multipliers) {
    EXPECT_TRUE(std::isfinite(y));
    EXPECT_GE(y, 0.0);
  }
  EXPECT_LT(result.fritz_john.violation, 5e-3);
  EXPECT_LT(learner->objective(), plain->objective());
}

// The feature is the group. Group "b" has entropy H_b at best, "a" much less, so the gap can only
// be closed by a worse model of "a": its loss is H_b - bound, and with objective w_a l_a + w_b l_b
// the multiplier of l_b - l_a <= bound is w_a.
TYPED_TEST(KnownAnswers, CbprReachesTheKnownAnswerOfAGap) {
  constexpr double kBound = 0.1;
  GeneratedData data;
  data.num_features = 1;
  std::vector<std::string> labels, groups;
  const auto add = [&](const char* group, double value, int positives, int negatives) {
    for (int i = 0; i < positives + negatives; ++i) {
      data.features.push_back(value);
      groups.emplace_back(group);
      labels.emplace_back(i < positives ? "1" : "0");
    }
  };
  add("a", 0.0, 90, 10);
  add("b", 1.0, 80, 120);
  data.rows.labels = EncodeColumn("label", labels);
  data.rows.groups.push_back(EncodeColumn("group", groups));
  const double entropy_b = -0.4 * std::log(0.4) - 0.6 * std::log(0.6);
  const double best = (entropy_b - kBound) / 3.0 + 2.0 * entropy_b / 3.0;

  const Objective objective(data.rows, {});
  RateConstraints constraints(Parse({"gap(loss, by=group) <= " + std::to_string(kBound)}),
                              data.rows);
  const auto train = MakeDataset<TypeParam>(data, TypeParam::NewtonParameters());
  const auto learner =
      TypeParam::Learner(train, objective, {.parameters = TypeParam::NewtonParameters()});
  CbprOptions options;
  options.form = CbprForm::kLinearized;
  options.max_outer_iterations = 40;
  options.subproblem.termination.max_iterations = 40;
  const CbprResult result = SolveCbpr(*learner, constraints, options);
  EXPECT_LT(result.fritz_john.violation, 1e-3);
  EXPECT_NEAR(learner->objective(), best, 2e-3);
  ASSERT_EQ(result.multipliers.size(), 2U);  // a - b and b - a
  EXPECT_NEAR(std::max(result.multipliers[0], result.multipliers[1]), 1.0 / 3.0, 0.02);
  EXPECT_EQ(std::min(result.multipliers[0], result.multipliers[1]), 0.0);
}

}  // namespace
}  // namespace bregboost
