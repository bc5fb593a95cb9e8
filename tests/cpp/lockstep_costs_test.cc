// Cost-sensitive steps of folds in lockstep, against one learner per fold that is trained alone.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "boosted_kits.h"
#include "bregboost/learners/lockstep.h"
#include "lockstep_test_support.h"

namespace bregboost {
namespace {

using testing::GeneratedData;
using testing::LargestDifference;
using testing::LightGbmKit;
using testing::MakeDataset;
using testing::Parse;
using testing::RowsOf;
using testing::Scores;
using testing::TakeData;
using testing::XgboostKit;

template <class Kit>
class LockstepCosts : public testing::GbmTest<typename Kit::Api> {};
using Kits = ::testing::Types<LightGbmKit, XgboostKit>;
TYPED_TEST_SUITE(LockstepCosts, Kits);

// Costs that tell every cell, class and step apart and know cells by their tuple alone.
std::vector<double> CostsOf(const CellTable& table, std::size_t num_classes, int step) {
  std::vector<double> costs;
  for (const Cell& cell : table.cells) {
    const int group = cell.groups.empty() ? 0 : cell.groups[0];
    for (std::size_t k = 0; k < num_classes; ++k) {
      const bool own = static_cast<std::size_t>(cell.label) == k;
      costs.push_back((own ? 1.0 : 0.1) * (1.0 + 0.7 * group + 0.3 * cell.label + 0.1 * step));
    }
  }
  return costs;
}

template <class Kit>
void ExpectOneLearnerPerFold(const GeneratedData& data, const std::vector<std::string>& texts,
                             const std::vector<std::int32_t>& fold_of_row, double tolerance) {
  constexpr int kSteps = 4;
  constexpr double kTau = 5.0;
  const std::size_t num_classes = data.rows.labels.levels.size();
  const std::size_t n = data.rows.num_rows();
  const Objective objective(data.rows, {});
  const RateConstraints constraints(Parse(texts), data.rows);
  const BoostedOptions boosting{.parameters = Kit::Parameters(), .rounds_per_step = 2};
  const auto all = MakeDataset<Kit>(data, Kit::Parameters());
  const auto learner =
      Kit::Lockstep(all, objective, constraints,
                    {.boosting = boosting, .num_folds = 3, .fold_of_row = fold_of_row});
  EXPECT_EQ(learner->rounds_per_step(), 2);
  for (int step = 0; step < kSteps; ++step) {
    const auto costs = CostsOf(learner->training().compiled().cells, num_classes, step);
    EXPECT_EQ(learner->StepOnCosts(costs, kTau).evaluations, 6);
  }
  for (std::int32_t fold = 0; fold < 3; ++fold) {
    const std::vector<std::int32_t> training = RowsOf(learner->fold_of_row(), fold, false);
    const std::vector<std::int32_t> held_out = RowsOf(learner->fold_of_row(), fold, true);
    const RowData rows = TakeRows(data.rows, training);
    const Objective alone_objective(rows, {});
    const RateConstraints alone_constraints(Parse(texts), rows);
    const CellTable& cells = alone_constraints.compiled().cells;
    const auto alone = Kit::Learner(TakeData(all, data, training), alone_objective, boosting);
    for (int step = 0; step < kSteps; ++step) {
      alone->StepOnCosts(cells, CostsOf(cells, num_classes, step), kTau);
    }
    const Scores expected = Kit::Predict(alone->Model(), data);
    double worst = 0.0;
    for (const std::int32_t row : held_out) {
      for (std::size_t k = 0; k < data.rows.num_scores(); ++k) {
        const std::size_t at = k * n + static_cast<std::size_t>(row);
        worst = std::max(worst, std::abs(learner->scores()[at] - expected[at]));
      }
    }
    EXPECT_LE(worst, Kit::kTolerance) << "fold " << fold;
    if constexpr (std::is_same_v<Kit, LightGbmKit>) {  // which trains on the same rows
      EXPECT_EQ(LargestDifference(learner->fold(static_cast<std::size_t>(fold)).scores(),
                                  alone->scores()),
                0.0);
    }
    EXPECT_LE(
        LargestDifference(Kit::Predict(learner->fold(static_cast<std::size_t>(fold)).Model(), data),
                          expected),
        tolerance);
  }
}

TYPED_TEST(LockstepCosts, EachFoldIsALearnerOfItsOwn) {
  const double tolerance = std::is_same_v<TypeParam, LightGbmKit> ? 0.0 : 1e-6;
  ExpectOneLearnerPerFold<TypeParam>(testing::TwoGroups(900, 1), {"gap(error, by=group) <= 1%"}, {},
                                     tolerance);
  ExpectOneLearnerPerFold<TypeParam>(testing::ThreeClasses(450, 2), {}, {}, tolerance);
}

// A group whose only row of class 0 is in fold 0: that fold's training rows lack the cell, which
// comes before others in the order of cells.
TYPED_TEST(LockstepCosts, AFoldMayLackACell) {
  GeneratedData data = testing::TwoGroups(600, 3);
  data.rows.groups[0].levels.emplace_back("rare");
  std::vector<std::int32_t> fold_of_row;
  for (std::int32_t i = 0; i < 600; ++i) fold_of_row.push_back(i % 3);
  for (std::size_t i = 0; i < 3; ++i) {
    data.rows.groups[0].codes[i] = 2;
    data.rows.labels.codes[i] = i == 0 ? 0 : 1;
  }
  const std::vector<std::string> texts = {"gap(error, by=group) <= 1%"};
  const RowData outside_fold_0 = TakeRows(data.rows, RowsOf(fold_of_row, 0, false));
  ASSERT_EQ(RateConstraints(Parse(texts), data.rows).compiled().cells.cells.size(), 6U);
  ASSERT_EQ(RateConstraints(Parse(texts), outside_fold_0).compiled().cells.cells.size(), 5U);
  ExpectOneLearnerPerFold<TypeParam>(data, texts, fold_of_row,
                                     std::is_same_v<TypeParam, LightGbmKit> ? 0.0 : 1e-6);
}

template <class Kit>
struct Problem {
  Problem(std::size_t n, unsigned seed, const BoostedOptions& boosting)
      : data(testing::TwoGroups(n, seed)),
        objective(data.rows, {}),
        constraints(Parse({"fnr <= 20%"}), data.rows),
        learner(Kit::Lockstep(MakeDataset<Kit>(data, Kit::Parameters()), objective, constraints,
                              {.boosting = boosting, .num_folds = 3})),
        costs(CostsOf(constraints.compiled().cells, 2, 0)) {}
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  GeneratedData data;
  Objective objective;
  RateConstraints constraints;
  std::unique_ptr<LockstepLearner> learner;
  std::vector<double> costs;
};

TYPED_TEST(LockstepCosts, AStepThatThrowsLeavesTheModelAsItWas) {
  Problem<TypeParam> problem(300, 4, {.parameters = TypeParam::Parameters()});
  problem.learner->StepOnCosts(problem.costs, 1.0);
  const Scores before(problem.learner->scores().begin(), problem.learner->scores().end());
  std::vector<double> bad = problem.costs;
  for (const double value : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    bad.back() = value;
    EXPECT_THROW(problem.learner->StepOnCosts(bad, 1.0), std::invalid_argument);
  }
  bad.pop_back();
  EXPECT_THROW(problem.learner->StepOnCosts(bad, 1.0), std::invalid_argument);
  EXPECT_THROW(problem.learner->StepOnCosts(problem.costs, 0.0), std::invalid_argument);
  EXPECT_LE(LargestDifference(problem.learner->scores(), before), TypeParam::kTolerance);
  EXPECT_EQ(problem.learner->fold(0).num_rounds(), 1);
}

TYPED_TEST(LockstepCosts, StepsMayDifferInRounds) {
  Problem<TypeParam> problem(300, 7, {.parameters = TypeParam::Parameters(), .rounds_per_step = 2});
  LockstepLearner& learner = *problem.learner;
  EXPECT_EQ(learner.StepOnCosts(problem.costs, 1.0).evaluations, 3 * 2);
  learner.SetRoundsPerStep(1);
  EXPECT_EQ(learner.StepOnCosts(problem.costs, 1.0).evaluations, 3 * 1);
  EXPECT_EQ(learner.rounds_done(), 3);
  EXPECT_THROW(learner.SetRoundsPerStep(0), std::invalid_argument);
  EXPECT_EQ(learner.rounds_per_step(), 1);
}

TYPED_TEST(LockstepCosts, StallsAreNamed) {
  GbmParameters parameters = TypeParam::Parameters();
  parameters[std::is_same_v<TypeParam, LightGbmKit> ? "min_data_in_leaf" : "min_child_weight"] =
      "1000";
  Problem<TypeParam> problem(300, 5, {.parameters = parameters});
  const StepOutcome outcome = problem.learner->StepOnCosts(problem.costs, 1.0);
  EXPECT_EQ(outcome.evaluations, 0);
  EXPECT_NE(outcome.stalled.find("no fold's booster found a split"), std::string::npos);
}

TYPED_TEST(LockstepCosts, EarlyStoppingGoesByTheOutOfFoldLoss) {
  Problem<TypeParam> problem(300, 6,
                             {.parameters = TypeParam::Parameters(), .early_stopping_rounds = 4});
  // Every row pays for its own class only: the plain loss.
  const std::vector<double> plain = {1.0, 0.0, 0.0, 1.0};
  ASSERT_EQ(problem.costs.size(), plain.size());
  double best = std::numeric_limits<double>::infinity();
  std::string stopped;
  for (int step = 0; step < 500 && stopped.empty(); ++step) {
    stopped = problem.learner->StepOnCosts(plain, 1e3).stopped;
    best = std::min(best, problem.learner->objective());
  }
  EXPECT_NE(stopped.find("out-of-fold loss"), std::string::npos);
  EXPECT_GT(problem.learner->objective(), best);
  problem.learner->ReturnToBest();
  EXPECT_NEAR(problem.learner->objective(), best, 1e-6);
}

}  // namespace
}  // namespace bregboost
