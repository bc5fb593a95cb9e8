#include "bregboost/learners/hold_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "boosted_kits.h"
#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "bregboost/solve/abpp.h"
#include "error_text.h"
#include "learners/detail/masked_xgboost.h"
#include "learners/detail/no_constraints.h"
#include "thread_workers.h"

namespace bregboost {
namespace {

using testing::GeneratedData;
using testing::Iterations;
using testing::LargestDifference;
using testing::LightGbmKit;
using testing::MakeDataset;
using testing::Parse;
using testing::Scores;
using testing::XgboostKit;

template <class Kit>
class HoldOut : public testing::GbmTest<typename Kit::Api> {};
using Kits = ::testing::Types<LightGbmKit, XgboostKit>;
TYPED_TEST_SUITE(HoldOut, Kits);

template <class Dataset>
std::unique_ptr<HoldOutLearner> Make(const ConstrainedRows<Dataset>& training,
                                     const ConstrainedRows<Dataset>& unseen,
                                     const BoostedOptions& options, const Dataset* reserved) {
  if constexpr (std::is_same_v<Dataset, LightGbmDataset>) {
    return HoldOutLearner::LightGbm(training, unseen, options, reserved);
  } else {
    return HoldOutLearner::Xgboost(training, unseen, options, reserved);
  }
}

template <class Kit>
struct Part {
  using Dataset = typename Kit::Dataset;
  Part(GeneratedData of_rows, const std::vector<std::string>& texts, const Dataset* reference)
      : data(std::move(of_rows)),
        dataset(MakeDataset<Kit>(data, Kit::Parameters(), reference)),
        objective(data.rows, {}),
        constraints(Parse(texts), data.rows) {}
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  ConstrainedRows<Dataset> view() const { return {dataset, objective, constraints}; }

  GeneratedData data;
  Dataset dataset;
  Objective objective;
  RateConstraints constraints;
};

template <class Kit>
struct Problem {
  explicit Problem(const std::vector<std::string>& texts)
      : training(testing::TwoGroups(700, 1), texts, nullptr),
        unseen(testing::TwoGroups(300, 2), texts, &training.dataset),
        reserved(testing::TwoGroups(200, 3), {}, &training.dataset) {}

  std::unique_ptr<HoldOutLearner> Learner(BoostedOptions options = {}) const {
    options.parameters = Kit::Parameters();
    return Make<typename Kit::Dataset>(training.view(), unseen.view(), options, &reserved.dataset);
  }

  Part<Kit> training, unseen, reserved;
};

TYPED_TEST(HoldOut, IsABoostedLearnerThatShowsItsHeldOutSet) {
  const Problem<TypeParam> problem({"fnr <= 20%", "gap(error, by=group) <= 2%"});
  const BoostedOptions options{.parameters = TypeParam::Parameters(), .rounds_per_step = 2};
  const auto learner = problem.Learner(options);
  const HeldOut<typename TypeParam::Dataset> held_out{.dataset = problem.unseen.dataset,
                                                      .objective = &problem.unseen.objective};
  const auto boosted = TypeParam::Learner(problem.training.dataset, problem.training.objective,
                                          options, {&held_out, 1});
  EXPECT_EQ(&learner->unseen(), &problem.unseen.constraints);
  EXPECT_EQ(&learner->training(), &problem.training.constraints);
  EXPECT_EQ(learner->rounds_per_step(), 2);
  EXPECT_EQ(learner->requested_rounds(), boosted->requested_rounds());

  const std::vector<double> multipliers(problem.training.constraints.size(), 0.3);
  const CellTable& cells = problem.training.constraints.compiled().cells;
  std::vector<double> costs(cells.cells.size() * 2);
  for (std::size_t j = 0; j < costs.size(); ++j) costs[j] = 0.3 + 0.1 * static_cast<double>(j);
  ProximalStep step;
  step.multipliers = multipliers;
  step.tau = 10.0;
  for (const RateConstraints* limits :
       {&problem.unseen.constraints, &problem.training.constraints}) {
    step.constraints = limits;
    const StepOutcome outcome = learner->Step(step);
    step.constraints = &problem.training.constraints;
    EXPECT_EQ(outcome.distance, boosted->Step(step).distance);
    learner->StepOnCosts(costs, 5.0);
    boosted->StepOnCosts(cells, costs, 5.0);

    EXPECT_EQ(LargestDifference(learner->scores(), boosted->HeldOutScores(0)), 0.0);
    const LearnerValues values = learner->Evaluate(problem.unseen.constraints);
    const LearnerValues expected = boosted->EvaluateHeldOut(0, problem.unseen.constraints);
    EXPECT_EQ(values.objective, expected.objective);
    EXPECT_EQ(values.constraints.exact, expected.constraints.exact);
    EXPECT_NEAR(learner->objective(), problem.unseen.objective.Evaluate(learner->scores()), 1e-6);
    EXPECT_EQ(learner->StationarityResidual(*limits, multipliers, 1.0),
              boosted->StationarityResidual(problem.training.constraints, multipliers, 1.0));
    EXPECT_LE(LargestDifference(learner->ReservedScores(),
                                TypeParam::Predict(learner->Model(), problem.reserved.data)),
              TypeParam::kTolerance);
  }
  const ModelAdjustment adjustment{.temperature = 2.0, .offsets = {0.5}};
  EXPECT_TRUE(learner->Model(adjustment) == boosted->Model(adjustment));
}

TYPED_TEST(HoldOut, MultipliersMoveOnTheUnseenRows) {
  Problem<TypeParam> problem({"fnr <= 15%"});
  const RateConstraints unseen(Parse({"fnr <= 15%"}), problem.unseen.data.rows);
  const auto learner = problem.Learner();
  const AbppResult result = SolveAbpp(*learner, problem.unseen.constraints, Iterations(60));
  EXPECT_GT(result.multipliers[0], 0.0);
  const double on_unseen = unseen.Evaluate(learner->scores()).exact[0];
  EXPECT_NEAR(result.stats.exact_violation, std::max(0.0, on_unseen), 1e-12);
  const auto plain = problem.Learner();
  detail::NoConstraints none;
  SolveAbpp(*plain, none, Iterations(60));
  EXPECT_LT(on_unseen, unseen.Evaluate(plain->scores()).exact[0] - 0.02);
}

TYPED_TEST(HoldOut, EarlyStoppingGoesByTheUnseenLoss) {
  const Problem<TypeParam> problem({});
  const auto learner = problem.Learner({.early_stopping_rounds = 4});
  detail::NoConstraints none;
  const AbppResult result = SolveAbpp(*learner, none, Iterations(500));
  EXPECT_EQ(result.reason, TerminationReason::kEarlyStopped);
  double best = result.history[1].objective;
  for (const IterationStats& row : result.history) best = std::min(best, row.objective);
  EXPECT_NEAR(learner->objective(), best, 1e-6);
}

TYPED_TEST(HoldOut, StatesAndAveragesAreTheBoosters) {
  const Problem<TypeParam> problem({"fnr <= 20%"});
  const auto learner = problem.Learner();
  EXPECT_EQ(learner->AnchorDistance(), 0.0);
  learner->SetAnchor();
  const std::vector<double> multipliers = {0.5};
  ProximalStep step;
  step.constraints = &learner->unseen();
  step.multipliers = multipliers;
  learner->Step(step);
  EXPECT_GT(learner->AnchorDistance(), 0.0);
  const Scores first(learner->scores().begin(), learner->scores().end());
  learner->AccumulateAverage(1.0);
  const auto state = learner->Save();
  learner->Step(step);
  learner->Restore(*state);
  EXPECT_LE(LargestDifference(learner->scores(), first), TypeParam::kTolerance);
  learner->Step(step);
  const Scores second(learner->scores().begin(), learner->scores().end());
  learner->AccumulateAverage(3.0);
  learner->UseAverage();
  Scores average(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) average[i] = 0.25 * first[i] + 0.75 * second[i];
  EXPECT_LE(LargestDifference(learner->scores(), average), 1e-6);
}

TYPED_TEST(HoldOut, WhatDoesNotFitIsRefused) {
  using Dataset = typename TypeParam::Dataset;
  const Problem<TypeParam> problem({"fnr <= 20%"});
  const Part<TypeParam>& training = problem.training;
  const Part<TypeParam>& unseen = problem.unseen;
  const auto error_of = [&](const ConstrainedRows<Dataset>& other) -> std::string {
    try {
      Make<Dataset>(training.view(), other, {.parameters = TypeParam::Parameters()}, nullptr);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "nothing thrown";
  };
  EXPECT_EQ(error_of(unseen.view()), "nothing thrown");
  EXPECT_EQ(error_of({unseen.dataset, unseen.objective, training.constraints}),
            "constraints of the unseen rows: bound to other rows than the objective; allowed: the "
            "same RowData");
  const RateConstraints none({}, unseen.data.rows);
  EXPECT_EQ(error_of({unseen.dataset, unseen.objective, none}),
            "constraints of the unseen rows: 0; allowed: those of the training rows, 1");
  const RateConstraints others(Parse({"fnr <= 10%"}), unseen.data.rows);
  EXPECT_EQ(error_of({unseen.dataset, unseen.objective, others}),
            "constraints of the unseen rows: 'fnr <= 10%'; allowed: that of the training rows, "
            "'fnr <= 20%'");
  EXPECT_EQ(error_of({training.dataset, unseen.objective, unseen.constraints}),
            "held-out set: 700 rows of features; allowed: as many as labels, 300");

  const auto learner = problem.Learner();
  EXPECT_THROW(learner->Evaluate(training.constraints), std::invalid_argument);
  RateConstraints same_again(Parse({"fnr <= 20%"}), unseen.data.rows);
  EXPECT_THROW(SolveAbpp(*learner, same_again, Iterations(1)), std::invalid_argument);
  EXPECT_THROW(learner->StepOnCosts(std::vector<double>(3, 1.0), 1.0), std::invalid_argument);
  EXPECT_THROW(learner->booster().EvaluateHeldOut(1, detail::NoConstraints()),
               std::invalid_argument);
  const auto without = Make<Dataset>(training.view(), unseen.view(),
                                     {.parameters = TypeParam::Parameters()}, nullptr);
  EXPECT_TRUE(without->ReservedScores().empty());
}

// A hold-out may leave a worker of a few rows without any to train on.
using MaskedXgboostTest = testing::XgboostTest;
TEST_F(MaskedXgboostTest, NeedsARowOnEveryWorker) {
  const Part<XgboostKit> part(testing::TwoGroups(20, 6), {}, nullptr);
  EXPECT_EQ(testing::ErrorOf([&] {
              test::OnWorkers(1, [&](const std::shared_ptr<test::ThreadWorker>& worker) {
                RowData none = TakeRows(part.data.rows, {});
                none.workers = worker;
                const RateConstraints constraints({}, none);
                detail::MaskedXgboost(part.dataset, constraints, {}, {}, {}, {});
              });
            }),
            "training rows: none on this worker; allowed: at least 1");
}

// Multipliers belong to groups, so a group that one set lacks would shift them.
TYPED_TEST(HoldOut, BothSetsHaveTheSameGroups) {
  const std::vector<std::string> texts = {"gap(error, by=group) <= 2%"};
  const Part<TypeParam> training(testing::TwoGroups(300, 4), texts, nullptr);
  GeneratedData with_third = testing::TwoGroups(200, 5);
  with_third.rows.groups[0].levels.emplace_back("c");
  for (std::size_t i = 0; i < 40; ++i) with_third.rows.groups[0].codes[i] = 2;
  const Part<TypeParam> unseen(with_third, texts, &training.dataset);
  EXPECT_THROW(Make<typename TypeParam::Dataset>(training.view(), unseen.view(),
                                                 {.parameters = TypeParam::Parameters()}, nullptr),
               std::invalid_argument);
}

}  // namespace
}  // namespace bregboost
