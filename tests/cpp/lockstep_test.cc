#include "bregboost/learners/lockstep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "boosted_kits.h"
#include "bregboost/data/folds.h"
#include "bregboost/problem/constraint_error.h"
#include "bregboost/problem/parser.h"
#include "bregboost/solve/abpp.h"
#include "error_text.h"
#include "learners/detail/no_constraints.h"
#include "lockstep_test_support.h"

namespace bregboost {
namespace {

using detail::NoConstraints;
using testing::GeneratedData;
using testing::Iterations;
using testing::LargestDifference;
using testing::LightGbmKit;
using testing::MakeDataset;
using testing::Parse;
using testing::RowsOf;
using testing::Scores;
using testing::TakeData;
using testing::XgboostKit;

template <class Kit>
class Lockstep : public testing::GbmTest<typename Kit::Api> {};
using Kits = ::testing::Types<LightGbmKit, XgboostKit>;
TYPED_TEST_SUITE(Lockstep, Kits);

template <class Kit>
void ExpectIndependentTrainings(const GeneratedData& data, std::int64_t rounds_per_step) {
  constexpr std::int64_t kRounds = 20;
  const Objective objective(data.rows, {});
  const RateConstraints constraints({}, data.rows);
  const auto all = MakeDataset<Kit>(data, Kit::Parameters());
  const auto learner = Kit::Lockstep(
      all, objective, constraints,
      {.boosting = {.parameters = Kit::Parameters(), .rounds_per_step = rounds_per_step},
       .num_folds = 5,
       .seed = 3});
  NoConstraints none;
  SolveAbpp(*learner, none, Iterations(kRounds / rounds_per_step));
  const std::size_t n = data.rows.num_rows();
  Scores mean(n * data.rows.num_scores(), 0.0);
  std::vector<Scores> trained;
  for (std::size_t m = 0; m < learner->models_per_row(); ++m) {
    trained.push_back(learner->TrainedScores(m));
  }
  ASSERT_EQ(trained.size(), 4);
  for (std::int32_t fold = 0; fold < 5; ++fold) {
    const std::vector<std::int32_t> training = RowsOf(learner->fold_of_row(), fold, false);
    const std::vector<std::int32_t> held_out = RowsOf(learner->fold_of_row(), fold, true);
    const auto train = TakeData(all, data, training);
    const std::string stock =
        Kit::NativeModel(train, TakeRows(data.rows, training), Kit::Parameters(), kRounds);
    const Scores expected = Kit::Predict(stock, data);
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += expected[j] / 5.0;
    double worst = 0.0;
    for (const std::int32_t row : held_out) {
      for (std::size_t k = 0; k < data.rows.num_scores(); ++k) {
        const std::size_t at = k * n + static_cast<std::size_t>(row);
        worst = std::max(worst, std::abs(learner->scores()[at] - expected[at]));
      }
    }
    EXPECT_LT(worst, Kit::kTolerance) << "fold " << fold;
    // A row of the next fold is the first one's after it, and so on.
    for (const std::int32_t row : training) {
      const auto i = static_cast<std::size_t>(row);
      const auto m = static_cast<std::size_t>((fold + 4 - learner->fold_of_row()[i]) % 5);
      for (std::size_t at = i; at < mean.size(); at += n) {
        worst = std::max(worst, std::abs(trained[m][at] - expected[at]));
      }
    }
    EXPECT_LT(worst, Kit::kTolerance) << "rows outside fold " << fold;
  }
  // The exported model is the mean of the fold models, in the stock library.
  EXPECT_LT(LargestDifference(Kit::Predict(learner->Model(), data), mean), Kit::kTolerance);
}

TYPED_TEST(Lockstep, OutOfFoldScoresAreThoseOfIndependentStockTrainings) {
  ExpectIndependentTrainings<TypeParam>(testing::TwoGroups(1000, 1), 1);
  ExpectIndependentTrainings<TypeParam>(testing::ThreeClasses(750, 2), 2);
}

TYPED_TEST(Lockstep, MultipliersMoveOnRowsThatTheBoostersHaveNotSeen) {
  const GeneratedData data = testing::TwoGroups(1500, 4);
  const Objective objective(data.rows, {});
  SurrogateOptions surrogate;
  surrogate.kind = SurrogateKind::kLogisticBase2;
  RateConstraints constraints(Parse({"fnr <= 25%"}), data.rows, surrogate);
  const auto all = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  const auto learner = TypeParam::Lockstep(all, objective, constraints,
                                           {.boosting = {.parameters = TypeParam::Parameters()}});
  AbppOptions options = Iterations(60);
  const AbppResult result = SolveAbpp(*learner, constraints, options);
  ASSERT_EQ(result.history.size(), 61U);
  EXPECT_GT(result.multipliers[0], 0.0);
  const double out_of_fold = constraints.Evaluate(learner->scores()).exact[0] + 0.25;
  EXPECT_NEAR(result.stats.exact_violation, std::max(0.0, out_of_fold - 0.25), 1e-12);
  // Without the constraint more are missed.
  const auto plain = TypeParam::Lockstep(all, objective, constraints,
                                         {.boosting = {.parameters = TypeParam::Parameters()}});
  NoConstraints none;
  SolveAbpp(*plain, none, Iterations(60));
  EXPECT_LT(out_of_fold, constraints.Evaluate(plain->scores()).exact[0] + 0.25 - 0.02);
}

TYPED_TEST(Lockstep, TheNumberOfThreadsChangesNothing) {
  const GeneratedData data = testing::TwoGroups(900, 5);
  const Objective objective(data.rows, {});
  RateConstraints constraints(Parse({"gap(error, by=group) <= 2%"}), data.rows);
  const auto all = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  std::vector<std::string> models;
  for (const char* threads : {"1", "4"}) {
    GbmParameters parameters = TypeParam::Parameters();
    parameters.erase("num_threads");
    parameters["nthread"] = threads;
    const auto learner = TypeParam::Lockstep(
        all, objective, constraints,
        {.boosting = {.parameters = parameters, .rounds_per_step = 2}, .num_folds = 3});
    SolveAbpp(*learner, constraints, Iterations(6));
    models.push_back(learner->Model());
  }
  EXPECT_TRUE(models[0] == models[1]);
}

// Libraries that keep random numbers by thread must draw alike however folds are scheduled.
TYPED_TEST(Lockstep, SamplingIsReproducibleAndGoesByTheSeed) {
  const GeneratedData data = testing::TwoGroups(600, 10);
  const Objective objective(data.rows, {});
  RateConstraints constraints(Parse({"fnr <= 20%"}), data.rows);
  const auto all = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  std::set<std::string> models;
  std::set<std::string> of_other_seeds;
  for (int run = 0; run < 6; ++run) {
    GbmParameters parameters = TypeParam::Parameters();
    parameters.erase("num_threads");
    parameters["nthread"] = run % 2 == 0 ? "1" : "3";
    parameters["subsample"] = "0.5";
    if constexpr (std::is_same_v<TypeParam, LightGbmKit>) parameters["bagging_freq"] = "1";
    parameters["seed"] = run < 4 ? "7" : std::to_string(run);
    const auto learner = TypeParam::Lockstep(
        all, objective, constraints, {.boosting = {.parameters = parameters}, .num_folds = 4});
    SolveAbpp(*learner, constraints, Iterations(5));
    (run < 4 ? models : of_other_seeds)
        .insert(std::to_string(learner->scores()[0]) + std::to_string(learner->scores()[599]));
  }
  EXPECT_EQ(models.size(), 1U);
  EXPECT_EQ(of_other_seeds.size(), 2U);
  EXPECT_EQ(of_other_seeds.count(*models.begin()), 0U);
}

TYPED_TEST(Lockstep, EarlyStoppingGoesWithConstraintsAndAverages) {
  const GeneratedData data = testing::TwoGroups(400, 11);
  const Objective objective(data.rows, {});
  RateConstraints constraints(Parse({"fnr <= 20%"}), data.rows);
  const auto all = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  for (const bool use_average : {false, true}) {
    const auto learner = TypeParam::Lockstep(
        all, objective, constraints,
        {.boosting = {.parameters = TypeParam::Parameters(), .early_stopping_rounds = 5},
         .num_folds = 3});
    AbppOptions options = Iterations(200);
    options.use_average = use_average;
    EXPECT_EQ(SolveAbpp(*learner, constraints, options).reason, TerminationReason::kEarlyStopped);
  }
}

TYPED_TEST(Lockstep, AGroupThatAFoldLacksIsNamedAtOnce) {
  GeneratedData data = testing::TwoGroups(200, 12);
  data.rows.groups[0].levels.emplace_back("rare");
  data.rows.groups[0].codes[17] = 2;
  const Objective objective(data.rows, {});
  const auto all = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  RateConstraints constraints(Parse({"gap(error, by=group) <= 20%"}), data.rows);
  EXPECT_THROW(TypeParam::Lockstep(all, objective, constraints,
                                   {.boosting = {.parameters = TypeParam::Parameters()}}),
               std::exception);
}

TYPED_TEST(Lockstep, StepsCanBeTakenBackAndAveraged) {
  const GeneratedData data = testing::TwoGroups(600, 6);
  const Objective objective(data.rows, {});
  RateConstraints constraints(Parse({"fnr <= 20%"}), data.rows);
  const auto all = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  const auto learner =
      TypeParam::Lockstep(all, objective, constraints,
                          {.boosting = {.parameters = TypeParam::Parameters()}, .num_folds = 3});
  const std::vector<double> multipliers = {0.5};
  ProximalStep step;
  step.constraints = &constraints;
  step.multipliers = multipliers;
  step.tau = 10.0;
  EXPECT_EQ(learner->Step(step).evaluations, 3);
  const Scores first(learner->scores().begin(), learner->scores().end());
  const auto state = learner->Save();
  learner->AccumulateAverage(1.0);
  learner->Step(step);
  const Scores second(learner->scores().begin(), learner->scores().end());
  learner->Restore(*state);
  EXPECT_LT(LargestDifference(learner->scores(), first), TypeParam::kTolerance);
  learner->Step(step);
  learner->AccumulateAverage(3.0);
  learner->UseAverage();
  Scores average(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) average[i] = 0.25 * first[i] + 0.75 * second[i];
  EXPECT_LT(LargestDifference(learner->scores(), average), 1e-5);
}

// Of a first step, and of one that starts from trees.
TYPED_TEST(Lockstep, TheAnchorStaysWhereItWasSet) {
  for (const GeneratedData& data : {testing::TwoGroups(600, 13), testing::ThreeClasses(450, 14)}) {
    const Objective objective(data.rows, {});
    RateConstraints constraints(Parse({"error(class=1) <= 20%"}), data.rows);
    const auto all = MakeDataset<TypeParam>(data, TypeParam::Parameters());
    const auto learner =
        TypeParam::Lockstep(all, objective, constraints,
                            {.boosting = {.parameters = TypeParam::Parameters()}, .num_folds = 3});
    const std::vector<double> multipliers = {0.5};
    ProximalStep step;
    step.constraints = &constraints;
    step.multipliers = multipliers;
    for (int from = 0; from < 2; ++from) {
      learner->SetAnchor();
      EXPECT_EQ(learner->AnchorDistance(), 0.0);
      const double distance = learner->Step(step).distance;
      EXPECT_GT(distance, 1e-4);
      EXPECT_NEAR(learner->AnchorDistance(), distance, 1e-9);
      // A pull so strong that the next step goes back.
      ProximalStep back = step;
      back.anchor_weight = 1e6;
      learner->Step(back);
      EXPECT_LT(learner->AnchorDistance(), 0.9 * distance);
    }
  }
}

TYPED_TEST(Lockstep, EarlyStoppingGoesByTheOutOfFoldLoss) {
  const GeneratedData data = testing::TwoGroups(400, 7);
  const Objective objective(data.rows, {});
  RateConstraints constraints({}, data.rows);
  GbmParameters parameters = TypeParam::Parameters();
  parameters["early_stopping_rounds"] = "4";
  const auto all = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  const auto learner =
      TypeParam::Lockstep(all, objective, constraints, {.boosting = {.parameters = parameters}});
  NoConstraints none;
  const AbppResult result = SolveAbpp(*learner, none, Iterations(500));
  EXPECT_EQ(result.reason, TerminationReason::kEarlyStopped);
  double best = result.history[1].objective;
  for (const IterationStats& row : result.history) best = std::min(best, row.objective);
  EXPECT_NEAR(learner->objective(), best, 1e-6);
}

TYPED_TEST(Lockstep, WhatDoesNotFitIsRefused) {
  const GeneratedData data = testing::TwoGroups(200, 8);
  const GeneratedData other = testing::TwoGroups(200, 9);
  const Objective objective(data.rows, {});
  RateConstraints constraints(Parse({"fnr <= 20%"}), data.rows);
  RateConstraints same_again(Parse({"fnr <= 20%"}), data.rows);
  RateConstraints elsewhere(Parse({"fnr <= 20%"}), other.rows);
  const auto all = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  const BoostedOptions boosting{.parameters = TypeParam::Parameters()};
  EXPECT_THROW(TypeParam::Lockstep(all, objective, elsewhere, {.boosting = boosting}),
               std::invalid_argument);
  EXPECT_THROW(
      TypeParam::Lockstep(all, objective, constraints, {.boosting = boosting, .num_folds = 1}),
      std::invalid_argument);
  const auto error_of_folds = [&](const std::vector<std::int32_t>& fold_of_row,
                                  std::size_t num_folds) {
    return testing::ErrorOf([&] {
      TypeParam::Lockstep(
          all, objective, constraints,
          {.boosting = boosting, .num_folds = num_folds, .fold_of_row = fold_of_row});
    });
  };
  EXPECT_EQ(error_of_folds({0, 1}, 2), "fold_of_row: 2 values; allowed: one per row, 200");
  std::vector<std::int32_t> folds(200, 0);
  EXPECT_EQ(error_of_folds(folds, 0), "num_folds: 0; allowed: at least 2");
  EXPECT_EQ(error_of_folds(folds, 3),
            "fold_of_row: no row in fold 1; allowed: rows in each of the 3 folds");
  for (const std::int32_t fold : {-1, 3}) {
    folds[7] = fold;
    EXPECT_EQ(error_of_folds(folds, 3),
              "fold_of_row: " + std::to_string(fold) + "; allowed: 0 to 2");
  }
  // All of class 1 in fold 0: its booster would have no such row to train on.
  LockstepOptions options{.boosting = boosting, .num_folds = 2};
  for (const std::int32_t code : data.rows.labels.codes) {
    options.fold_of_row.push_back(code == 1 ? 0 : 1);
  }
  EXPECT_THROW(TypeParam::Lockstep(all, objective, constraints, options), std::exception);
  const auto learner = TypeParam::Lockstep(all, objective, constraints, {.boosting = boosting});
  EXPECT_THROW(SolveAbpp(*learner, same_again, Iterations(1)), std::invalid_argument);
  EXPECT_EQ(testing::ErrorOf([&] { learner->fold(5); }), "fold: 5; allowed: below 5");
}

TEST(AssignFolds, DealsEveryStratumEvenly) {
  std::vector<std::uint32_t> strata;
  for (std::uint32_t i = 0; i < 103; ++i) strata.push_back(i % 10 == 0 ? 7 : i % 3);
  const std::vector<std::int32_t> folds = AssignFolds(strata, 5, 42);
  for (const std::uint32_t stratum : {0U, 1U, 2U, 7U}) {
    std::vector<int> count(5, 0);
    for (std::size_t i = 0; i < strata.size(); ++i) {
      if (strata[i] == stratum) ++count[static_cast<std::size_t>(folds[i])];
    }
    const auto [least, most] = std::minmax_element(count.begin(), count.end());
    EXPECT_LE(*most - *least, 1);
  }
  std::vector<int> size(5, 0);
  for (const std::int32_t fold : folds) ++size[static_cast<std::size_t>(fold)];
  const auto [least, most] = std::minmax_element(size.begin(), size.end());
  EXPECT_LE(*most - *least, 1);
  EXPECT_EQ(AssignFolds(strata, 5, 42), folds);
  EXPECT_NE(AssignFolds(strata, 5, 43), folds);
}

}  // namespace
}  // namespace bregboost
