#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "boosted_kits.h"
#include "bregboost/learners/boosted.h"
#include "bregboost/problem/objective.h"
#include "bregboost/problem/rate_constraints.h"
#include "bregboost/solve/abpp.h"
#include "error_text.h"
#include "learners/detail/no_constraints.h"

namespace bregboost {
namespace {

using detail::NoConstraints;
using testing::ErrorOf;
using testing::GeneratedData;
using testing::Iterations;
using testing::LargestDifference;
using testing::LightGbmKit;
using testing::MakeDataset;
using testing::Parse;
using testing::Scores;
using testing::XgboostKit;

template <class Kit>
class Boosted : public testing::GbmTest<typename Kit::Api> {};
using Kits = ::testing::Types<LightGbmKit, XgboostKit>;
TYPED_TEST_SUITE(Boosted, Kits);

ObjectiveOptions Loss(const RowData& rows) {
  ObjectiveOptions options;
  if (rows.task() == Task::kRegression) options.loss.kind = LossKind::kSquared;
  return options;
}

GeneratedData Weighted(GeneratedData data) {
  for (std::size_t i = 0; i < data.rows.num_rows(); ++i) {
    data.rows.weights.push_back(0.5 + static_cast<double>(i % 7));
  }
  return data;
}

// ---- without constraints it is the stock library

template <class Kit>
void ExpectStockModel(const GeneratedData& data) {
  const Objective objective(data.rows, Loss(data.rows));
  const auto train = MakeDataset<Kit>(data, Kit::Parameters());
  const auto learner = Kit::Learner(train, objective, {.parameters = Kit::Parameters()});
  NoConstraints none;
  const AbppResult result = SolveAbpp(*learner, none, Iterations(40));
  EXPECT_EQ(result.reason, TerminationReason::kIterationLimit);
  EXPECT_EQ(learner->num_rounds(), 40);
  const std::string native = Kit::NativeModel(train, data.rows, Kit::Parameters(), 40);
  const Scores expected = Kit::Predict(native, data);
  EXPECT_LT(LargestDifference(learner->scores(), expected), Kit::kTolerance);
  EXPECT_LT(LargestDifference(Kit::Predict(learner->Model(), data), expected), Kit::kTolerance);
  EXPECT_LT(LargestDifference(Kit::Predict(learner->Model(), data, /*raw=*/false),
                              Kit::Predict(native, data, /*raw=*/false)),
            1e-6);
}

TYPED_TEST(Boosted, WithoutConstraintsTheModelIsTheStockLibrarys) {
  ExpectStockModel<TypeParam>(testing::TwoGroups(1500, 1));
  ExpectStockModel<TypeParam>(testing::ThreeClasses(900, 2));
  ExpectStockModel<TypeParam>(testing::NoisyLine(800, 3));
}

TYPED_TEST(Boosted, WithoutConstraintsWeightsAreTheStockLibrarys) {
  ExpectStockModel<TypeParam>(Weighted(testing::TwoGroups(1500, 4)));
  ExpectStockModel<TypeParam>(Weighted(testing::ThreeClasses(900, 5)));
  ExpectStockModel<TypeParam>(Weighted(testing::NoisyLine(800, 6)));
}

// The lines of a model text between the header and the parameters: every tree, digit by digit.
// internal_value has six digits and takes no part in predictions.
std::vector<std::string> TreesOf(const std::string& text) {
  const std::size_t first = text.find("Tree=0");
  std::istringstream stream(text.substr(first, text.find("end of trees") - first));
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("internal_value=")) lines.push_back(line);
  }
  return lines;
}

using LightGbm = testing::LightGbmTest;

TEST_F(LightGbm, WithoutConstraintsEveryTreeIsTheStockLibrarysToTheLastDigit) {
  for (const GeneratedData& data : {testing::TwoGroups(3000, 7), testing::ThreeClasses(1200, 8),
                                    Weighted(testing::TwoGroups(2000, 9))}) {
    const Objective objective(data.rows, {});
    const auto train = MakeDataset<LightGbmKit>(data, LightGbmKit::Parameters());
    const auto learner =
        BoostedLearner::LightGbm(train, objective, {.parameters = LightGbmKit::Parameters()});
    NoConstraints none;
    SolveAbpp(*learner, none, Iterations(30));
    const std::string native =
        LightGbmKit::NativeModel(train, data.rows, LightGbmKit::Parameters(), 30);
    const std::vector<std::string> ours = TreesOf(learner->Model());
    const std::vector<std::string> stock = TreesOf(native);
    ASSERT_EQ(ours.size(), stock.size());
    for (std::size_t i = 0; i < ours.size(); ++i) ASSERT_EQ(ours[i], stock[i]) << "line " << i;
  }
}

// The starting score is lent to the data set for a moment, which the other must not take for the
// user's.
TEST_F(LightGbm, TwoLearnersAtOnceOnOneDataSetDoNotMeet) {
  const GeneratedData data = testing::TwoGroups(20000, 32);
  const Objective objective(data.rows, {});
  const auto train = MakeDataset<LightGbmKit>(data, LightGbmKit::Parameters());
  std::vector<double> starts(40);
  const auto make = [&](std::size_t first) {
    for (std::size_t i = first; i < starts.size(); i += 2) {
      const auto learner =
          BoostedLearner::LightGbm(train, objective, {.parameters = LightGbmKit::Parameters()});
      starts[i] = LightGbmKit::Predict(learner->Model(), data)[0];
    }
  };
  std::thread other([&] { make(1); });
  make(0);
  other.join();
  for (const double start : starts) EXPECT_EQ(start, starts[0]);
  EXPECT_NE(starts[0], 0.0);
}

TYPED_TEST(Boosted, TheModelGivesTheScoresThatTrainingSaw) {
  for (const GeneratedData& data : {testing::TwoGroups(800, 11), testing::ThreeClasses(600, 12)}) {
    const Objective objective(data.rows, {});
    RateConstraints constraints(Parse({"error <= 10%"}), data.rows);
    const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
    const auto learner =
        TypeParam::Learner(train, objective, {.parameters = TypeParam::Parameters()});
    SolveAbpp(*learner, constraints, Iterations(25));
    const Scores raw = TypeParam::Predict(learner->Model(), data);
    EXPECT_LT(LargestDifference(raw, learner->scores()), TypeParam::kTolerance);
    EXPECT_NEAR(learner->objective(), objective.Evaluate(raw), 1e-5);
    // Class offsets and a temperature are part of the model.
    const std::size_t n = data.rows.num_rows();
    ModelAdjustment adjustment{.temperature = 2.0, .offsets = {0.7, -0.2, 0.1}};
    adjustment.offsets.resize(data.rows.num_scores());
    const Scores adjusted = TypeParam::Predict(learner->Model(adjustment), data);
    Scores expected(raw.size());
    for (std::size_t j = 0; j < raw.size(); ++j) {
      expected[j] = learner->scores()[j] / 2.0 + adjustment.offsets[j / n];
    }
    EXPECT_LT(LargestDifference(adjusted, expected), TypeParam::kTolerance);
  }
}

TYPED_TEST(Boosted, TheAverageOfIteratesIsOneModel) {
  for (const GeneratedData& data : {testing::TwoGroups(600, 13), testing::ThreeClasses(450, 14)}) {
    const Objective objective(data.rows, {});
    RateConstraints constraints(Parse({"error <= 10%"}), data.rows);
    const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
    const HeldOut<typename TypeParam::Dataset> held_out{
        .dataset = MakeDataset<TypeParam>(data, TypeParam::Parameters(), &train),
        .objective = &objective};
    const auto learner = TypeParam::Learner(
        train, objective, {.parameters = TypeParam::Parameters()}, {&held_out, 1});
    AbppOptions options = Iterations(8);
    options.use_average = true;
    Scores sum(data.rows.num_rows() * data.rows.num_scores(), 0.0);
    double total = 0.0;
    SolveHooks hooks;
    hooks.on_iteration = [&](const IterationStats& row) {
      total += row.averaging_weight;
      for (std::size_t j = 0; j < sum.size(); ++j) {
        sum[j] += row.averaging_weight * learner->scores()[j];
      }
      return true;
    };
    SolveAbpp(*learner, constraints, options, hooks);
    for (double& score : sum) score /= total;
    EXPECT_LT(LargestDifference(learner->scores(), sum), TypeParam::kTolerance);
    EXPECT_LT(LargestDifference(learner->HeldOutScores(0), sum), TypeParam::kTolerance);
    EXPECT_LT(LargestDifference(TypeParam::Predict(learner->Model(), data), sum),
              TypeParam::kTolerance);
    // Training goes on from the average.
    SolveAbpp(*learner, constraints, Iterations(3));
    EXPECT_LT(LargestDifference(TypeParam::Predict(learner->Model(), data), learner->scores()),
              TypeParam::kTolerance);
  }
}

TYPED_TEST(Boosted, HeldOutRowsAreScoredEveryRound) {
  const GeneratedData data = testing::TwoGroups(700, 15);
  const GeneratedData other = testing::TwoGroups(300, 16);
  const Objective objective(data.rows, {});
  const Objective held_out_objective(other.rows, {});
  const RateConstraints held_out_rates(Parse({"fnr <= 10%"}), other.rows);
  RateConstraints constraints(Parse({"fnr <= 10%"}), data.rows);
  const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  const HeldOut<typename TypeParam::Dataset> held_out{
      .dataset = MakeDataset<TypeParam>(other, TypeParam::Parameters(), &train),
      .objective = &held_out_objective};
  const auto learner =
      TypeParam::Learner(train, objective, {.parameters = TypeParam::Parameters()}, {&held_out, 1});
  SolveHooks hooks;
  hooks.on_iteration = [&](const IterationStats& row) {
    if (row.k == 0 || row.k % 5 != 0) return true;
    const Scores fresh = TypeParam::Predict(learner->Model(), other);
    EXPECT_LT(LargestDifference(learner->HeldOutScores(0), fresh), TypeParam::kTolerance);
    const LearnerValues values = learner->EvaluateHeldOut(0, held_out_rates);
    EXPECT_NEAR(values.objective, held_out_objective.Evaluate(fresh), 1e-5);
    EXPECT_NEAR(values.constraints.exact[0],
                held_out_rates.Evaluate(learner->HeldOutScores(0)).exact[0], 1e-12);
    return true;
  };
  SolveAbpp(*learner, constraints, Iterations(20), hooks);
  EXPECT_THROW(learner->HeldOutScores(1), std::invalid_argument);
}

TYPED_TEST(Boosted, EarlyStoppingNeedsRowsToWatch) {
  const GeneratedData data = testing::TwoGroups(100, 30);
  const Objective objective(data.rows, {});
  const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  const HeldOut<typename TypeParam::Dataset> scored_only{.dataset = train};
  const auto error = [&](std::int64_t rounds,
                         std::span<const HeldOut<typename TypeParam::Dataset>> held_out) {
    return ErrorOf([&] {
      TypeParam::Learner(train, objective,
                         {.parameters = TypeParam::Parameters(), .early_stopping_rounds = rounds},
                         held_out);
    });
  };
  EXPECT_EQ(error(5, {}), "early_stopping_rounds: 5; allowed without a held-out set: 0");
  EXPECT_EQ(error(5, {&scored_only, 1}),
            "early_stopping_rounds: 5; allowed without an objective of the first held-out set: 0");
  EXPECT_EQ(error(-1, {&scored_only, 1}), "early_stopping_rounds: -1; allowed: at least 0");
}

TYPED_TEST(Boosted, TheMeanIsOfAtLeastOneModel) {
  EXPECT_EQ(ErrorOf([] { BoostedLearner::MeanModel({}, {}); }),
            "learners: none; allowed: at least 1");
}

TYPED_TEST(Boosted, EarlyStoppingGoesBackToTheBestRound) {
  const GeneratedData data = testing::TwoGroups(300, 17);
  const GeneratedData other = testing::TwoGroups(300, 18);
  const Objective objective(data.rows, {});
  const Objective held_out_objective(other.rows, {});
  const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  const HeldOut<typename TypeParam::Dataset> held_out{
      .dataset = MakeDataset<TypeParam>(other, TypeParam::Parameters(), &train),
      .objective = &held_out_objective};
  const auto learner = TypeParam::Learner(
      train, objective,
      {.parameters = TypeParam::Parameters(), .rounds_per_step = 1, .early_stopping_rounds = 5},
      {&held_out, 1});
  std::vector<double> losses;
  SolveHooks hooks;
  hooks.on_iteration = [&](const IterationStats&) {
    losses.push_back(held_out_objective.Evaluate(learner->HeldOutScores(0)));
    return true;
  };
  NoConstraints none;
  const AbppResult result = SolveAbpp(*learner, none, Iterations(400), hooks);
  EXPECT_EQ(result.reason, TerminationReason::kEarlyStopped);
  EXPECT_NE(result.detail.find("held-out rows was lowest"), std::string::npos);
  const auto best = std::min_element(losses.begin() + 1, losses.end() - 1) - losses.begin();
  EXPECT_EQ(learner->num_rounds(), best);
  EXPECT_NEAR(held_out_objective.Evaluate(learner->HeldOutScores(0)),
              losses[static_cast<std::size_t>(best)], 1e-6);
  EXPECT_NEAR(result.stats.objective, learner->objective(), 1e-12);
  EXPECT_LT(LargestDifference(TypeParam::Predict(learner->Model(), data), learner->scores()),
            TypeParam::kTolerance);
}

// Steps that are taken back on the way, and averages, must not confuse the rule.
TYPED_TEST(Boosted, EarlyStoppingGoesWithConstraintsAndAverages) {
  for (unsigned seed = 40; seed < 46; ++seed) {
    const GeneratedData data = testing::TwoGroups(300, seed);
    const GeneratedData other = testing::TwoGroups(300, seed + 100);
    const Objective objective(data.rows, {});
    const Objective held_out_objective(other.rows, {});
    RateConstraints constraints(Parse({"fnr <= 20%"}), data.rows);
    const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
    const HeldOut<typename TypeParam::Dataset> held_out{
        .dataset = MakeDataset<TypeParam>(other, TypeParam::Parameters(), &train),
        .objective = &held_out_objective};
    for (const bool use_average : {false, true}) {
      const auto learner = TypeParam::Learner(
          train, objective,
          {.parameters = TypeParam::Parameters(), .rounds_per_step = 1, .early_stopping_rounds = 5},
          {&held_out, 1});
      AbppOptions options = Iterations(200);
      options.use_average = use_average;
      const AbppResult result = SolveAbpp(*learner, constraints, options);
      EXPECT_EQ(result.reason, TerminationReason::kEarlyStopped);
      EXPECT_LT(LargestDifference(TypeParam::Predict(learner->Model(), data), learner->scores()),
                TypeParam::kTolerance);
      EXPECT_LT(
          LargestDifference(TypeParam::Predict(learner->Model(), other), learner->HeldOutScores(0)),
          TypeParam::kTolerance);
    }
  }
}

TYPED_TEST(Boosted, AnchorsOutliveAverages) {
  const GeneratedData data = testing::ThreeClasses(300, 27);
  const Objective objective(data.rows, {});
  const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  const auto learner =
      TypeParam::Learner(train, objective, {.parameters = TypeParam::Parameters()});
  ProximalStep step;
  learner->SetAnchor();
  const Scores anchor(learner->scores().begin(), learner->scores().end());
  for (int k = 0; k < 3; ++k) {
    learner->Step(step);
    learner->AccumulateAverage(1.0);
  }
  learner->UseAverage();
  double squares = 0.0;
  for (std::size_t j = 0; j < anchor.size(); ++j) {
    squares += (learner->scores()[j] - anchor[j]) * (learner->scores()[j] - anchor[j]);
  }
  EXPECT_NEAR(learner->AnchorDistance(), squares / 600.0, 1e-6);
  step.anchor_weight = 0.1;
  EXPECT_EQ(learner->Step(step).evaluations, 1);
}

// Cost 1 for the own class and 0 for the others is plain training but for the proximal term.
TYPED_TEST(Boosted, StepsOnCostsAreCostSensitive) {
  for (const GeneratedData& data : {testing::TwoGroups(500, 28), testing::ThreeClasses(300, 29)}) {
    const std::size_t classes = data.rows.labels.levels.size();
    const Objective objective(data.rows, {});
    const RateConstraints constraints(Parse({"error <= 50%"}), data.rows);
    const CellTable& cells = constraints.compiled().cells;
    std::vector<double> costs(cells.cells.size() * classes, 0.0);
    for (std::size_t a = 0; a < cells.cells.size(); ++a) {
      costs[a * classes + static_cast<std::size_t>(cells.cells[a].label)] = 1.0;
    }
    const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
    const auto on_costs =
        TypeParam::Learner(train, objective, {.parameters = TypeParam::Parameters()});
    const auto plain =
        TypeParam::Learner(train, objective, {.parameters = TypeParam::Parameters()});
    NoConstraints none;
    SolveAbpp(*plain, none, Iterations(10));
    for (int k = 0; k < 10; ++k) on_costs->StepOnCosts(cells, costs, 1e9);
    EXPECT_NEAR(on_costs->objective(), plain->objective(), 1e-3);
    // Dearer misses of class 1 make it more likely.
    for (std::size_t a = 0; a < cells.cells.size(); ++a) {
      if (cells.cells[a].label == 1) costs[a * classes + 1] = 5.0;
    }
    const RateConstraints misses(Parse({"error(class=1) <= 50%"}), data.rows);
    const double before = on_costs->Evaluate(misses).constraints.exact[0];
    for (int k = 0; k < 10; ++k) on_costs->StepOnCosts(cells, costs, 20.0);
    EXPECT_LT(on_costs->Evaluate(misses).constraints.exact[0], before);
    EXPECT_THROW(on_costs->StepOnCosts(cells, costs, 0.0), std::invalid_argument);
  }
}

TYPED_TEST(Boosted, StepsThatNobodyMeasuresAreTheSameSteps) {
  const GeneratedData data = testing::TwoGroups(500, 30);
  const Objective objective(data.rows, {});
  const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  const auto measured =
      TypeParam::Learner(train, objective, {.parameters = TypeParam::Parameters()});
  const auto unmeasured =
      TypeParam::Learner(train, objective, {.parameters = TypeParam::Parameters()});
  for (int k = 0; k < 3; ++k) {
    EXPECT_GT(measured->Step({}).distance, 0.0);
    const StepOutcome outcome = unmeasured->Step({.measured = false});
    EXPECT_TRUE(std::isnan(outcome.distance) && std::isnan(outcome.residual));
    EXPECT_EQ(outcome.evaluations, 1);
  }
  EXPECT_EQ(unmeasured->Model(), measured->Model());
}

TYPED_TEST(Boosted, StepsCanBeTakenBack) {
  const GeneratedData data = testing::TwoGroups(500, 19);
  const Objective objective(data.rows, {});
  RateConstraints constraints(Parse({"fnr <= 10%"}), data.rows);
  const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  const auto learner = TypeParam::Learner(
      train, objective, {.parameters = TypeParam::Parameters(), .rounds_per_step = 2});
  const std::vector<double> multipliers = {0.5};
  ProximalStep step;
  step.constraints = &constraints;
  step.multipliers = multipliers;
  step.tau = 5.0;
  EXPECT_EQ(learner->Step(step).evaluations, 2);
  const auto state = learner->Save();
  const Scores before(learner->scores().begin(), learner->scores().end());
  learner->SetAnchor();
  const StepOutcome outcome = learner->Step(step);
  const Scores after(learner->scores().begin(), learner->scores().end());
  double squares = 0.0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    squares += (after[i] - before[i]) * (after[i] - before[i]);
  }
  EXPECT_NEAR(outcome.distance, squares / (2.0 * 500.0), 1e-6);
  EXPECT_NEAR(learner->AnchorDistance(), outcome.distance, 1e-6);
  const auto later = learner->Save();
  learner->Restore(*state);
  EXPECT_EQ(learner->num_rounds(), 2);
  EXPECT_LT(LargestDifference(learner->scores(), before), TypeParam::kTolerance);
  EXPECT_THROW(learner->Restore(*later), std::logic_error);
  learner->Step(step);
  EXPECT_LT(LargestDifference(learner->scores(), after), 1e-4);
  EXPECT_LT(LargestDifference(TypeParam::Predict(learner->Model(), data), learner->scores()),
            TypeParam::kTolerance);
}

TYPED_TEST(Boosted, InitialScoresStayOutsideTheModel) {
  const GeneratedData data = testing::TwoGroups(500, 20);
  Scores start(data.rows.num_rows());
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = data.features[4 * i] * 0.5;
  const Objective objective(data.rows, {});
  auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  TypeParam::SetStart(train, start);
  const auto learner =
      TypeParam::Learner(train, objective, {.parameters = TypeParam::Parameters()});
  EXPECT_LT(LargestDifference(learner->scores(), start), 1e-6);
  NoConstraints none;
  SolveAbpp(*learner, none, Iterations(10));
  Scores sum = TypeParam::Predict(learner->Model(), data);
  for (std::size_t i = 0; i < start.size(); ++i) sum[i] += start[i];
  EXPECT_LT(LargestDifference(learner->scores(), sum), TypeParam::kTolerance);
}

// ---- endings that say why

TYPED_TEST(Boosted, AClassWithoutWeightEndsWithAReason) {
  GeneratedData data = testing::TwoGroups(300, 21);
  for (const std::int32_t code : data.rows.labels.codes) {
    data.rows.weights.push_back(code == 0 ? 1.0 : 0.0);
  }
  const Objective objective(data.rows, {});
  const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  const auto learner =
      TypeParam::Learner(train, objective, {.parameters = TypeParam::Parameters()});
  NoConstraints none;
  const AbppResult result = SolveAbpp(*learner, none, Iterations(30));
  EXPECT_EQ(result.reason, TerminationReason::kStalled);
  EXPECT_NE(result.detail.find("found no split in round"), std::string::npos) << result.detail;
}

TYPED_TEST(Boosted, TinyWeightsStallWithAReasonUnlessConstraintsScaleThem) {
  GeneratedData data = testing::TwoGroups(300, 22);
  data.rows.weights.assign(300, 1e-9);
  const Objective objective(data.rows, {});
  const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  {
    const auto learner =
        TypeParam::Learner(train, objective, {.parameters = TypeParam::Parameters()});
    NoConstraints none;
    const AbppResult result = SolveAbpp(*learner, none, Iterations(30));
    EXPECT_EQ(result.reason, TerminationReason::kStalled);
    EXPECT_NE(result.detail.find("sum of hessians"), std::string::npos) << result.detail;
    EXPECT_EQ(learner->num_rounds(), 0);
  }
  RateConstraints constraints(Parse({"fnr <= 90%"}), data.rows);
  const auto learner =
      TypeParam::Learner(train, objective, {.parameters = TypeParam::Parameters()});
  const AbppResult result = SolveAbpp(*learner, constraints, Iterations(30));
  EXPECT_EQ(result.reason, TerminationReason::kIterationLimit) << result.detail;
  EXPECT_EQ(learner->num_rounds(), 30);
}

// Two rows of a class are absent from most bags of a third of the rows.
TYPED_TEST(Boosted, AClassAbsentFromABagDoesNotStopTheOthers) {
  GeneratedData data = testing::ThreeClasses(300, 25);
  std::size_t kept = 0;
  for (std::int32_t& code : data.rows.labels.codes) {
    if (code == 2 && ++kept > 2) code = 1;
  }
  const Objective objective(data.rows, {});
  RateConstraints constraints(Parse({"error(class=0) <= 30%"}), data.rows);
  GbmParameters parameters = TypeParam::Parameters();
  parameters["subsample"] = "0.33";
  if constexpr (std::is_same_v<TypeParam, LightGbmKit>) parameters["bagging_freq"] = "1";
  const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  const auto learner = TypeParam::Learner(train, objective, {.parameters = parameters});
  const double start = learner->objective();
  const AbppResult result = SolveAbpp(*learner, constraints, Iterations(20));
  EXPECT_EQ(result.reason, TerminationReason::kIterationLimit) << result.detail;
  EXPECT_EQ(learner->num_rounds(), 20);
  EXPECT_LT(learner->objective(), 0.8 * start);
  EXPECT_LT(LargestDifference(TypeParam::Predict(learner->Model(), data), learner->scores()),
            TypeParam::kTolerance);
}

// A level of the label that no row has.
TYPED_TEST(Boosted, AClassWithoutRowsIsNeverPredicted) {
  GeneratedData data = testing::ThreeClasses(300, 26);
  data.rows.labels.levels.emplace_back("3");
  const Objective objective(data.rows, {});
  RateConstraints constraints(Parse({"error <= 30%"}), data.rows);
  const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  const auto learner =
      TypeParam::Learner(train, objective, {.parameters = TypeParam::Parameters()});
  const AbppResult result = SolveAbpp(*learner, constraints, Iterations(20));
  EXPECT_EQ(result.reason, TerminationReason::kIterationLimit) << result.detail;
  const Scores probabilities = TypeParam::Predict(learner->Model(), data, /*raw=*/false);
  for (std::size_t i = 3 * 300; i < probabilities.size(); ++i) EXPECT_LT(probabilities[i], 0.05);
}

// Leaf values shrunk to nothing look like a small gradient from afar.
TYPED_TEST(Boosted, HeavyRegularisationIsNotConvergence) {
  const GeneratedData data = testing::TwoGroups(300, 30);
  const Objective objective(data.rows, {});
  const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  GbmParameters parameters = TypeParam::Parameters();
  parameters["reg_lambda"] = "1e9";
  const auto learner = TypeParam::Learner(train, objective, {.parameters = parameters});
  NoConstraints none;
  AbppOptions options;  // with the default tolerances
  options.termination.max_iterations = 5;
  const AbppResult result = SolveAbpp(*learner, none, options);
  EXPECT_NE(result.reason, TerminationReason::kConverged);
}

TYPED_TEST(Boosted, AStallShowsNoStationarity) {
  const GeneratedData data = testing::TwoGroups(300, 31);
  const Objective objective(data.rows, {});
  RateConstraints constraints(Parse({"fnr <= 20%"}), data.rows);
  const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  GbmParameters parameters = TypeParam::Parameters();
  parameters[std::is_same_v<TypeParam, LightGbmKit> ? "min_gain_to_split" : "gamma"] = "20";
  const auto learner = TypeParam::Learner(train, objective, {.parameters = parameters});
  const std::vector<double> zero = {0.0};
  ProximalStep step;
  double before = 0.0;
  for (int k = 0; k < 200; ++k) {
    if (!learner->Step(step).stalled.empty()) break;
    before = learner->StationarityResidual(constraints, zero, 1.0);
  }
  EXPECT_FALSE(learner->Step(step).stalled.empty());
  EXPECT_GE(learner->StationarityResidual(constraints, zero, 1.0), before);
}

TYPED_TEST(Boosted, InterruptsAndCallbacksStopBetweenRounds) {
  const GeneratedData data = testing::TwoGroups(300, 23);
  const Objective objective(data.rows, {});
  const auto train = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  const auto learner =
      TypeParam::Learner(train, objective, {.parameters = TypeParam::Parameters()});
  NoConstraints none;
  SolveHooks hooks;
  hooks.on_iteration = [](const IterationStats& row) { return row.k < 4; };
  const AbppResult result = SolveAbpp(*learner, none, Iterations(30), hooks);
  EXPECT_EQ(result.reason, TerminationReason::kInterrupted);
  EXPECT_EQ(learner->num_rounds(), 4);
  ASSERT_EQ(result.history.size(), 5U);  // the start and every round
  for (std::size_t k = 1; k < result.history.size(); ++k) {
    EXPECT_LT(result.history[k].objective, result.history[k - 1].objective);
    EXPECT_EQ(result.history[k].evaluations, static_cast<std::int64_t>(k));
  }
  std::atomic<bool> interrupt = true;
  hooks = {.on_iteration = nullptr, .interrupt = &interrupt};
  EXPECT_EQ(SolveAbpp(*learner, none, Iterations(30), hooks).reason,
            TerminationReason::kInterrupted);
  EXPECT_EQ(learner->num_rounds(), 4);
}

}  // namespace
}  // namespace bregboost
