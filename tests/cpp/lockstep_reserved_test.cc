// Folds in lockstep on a data set that holds more rows than the problem: some are reserved for
// certification, some are nobody's.
#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "boosted_kits.h"
#include "bregboost/learners/lockstep.h"
#include "error_text.h"
#include "lockstep_test_support.h"

namespace bregboost {
namespace {

using testing::GeneratedData;
using testing::LargestDifference;
using testing::LightGbmKit;
using testing::MakeDataset;
using testing::Parse;
using testing::Scores;
using testing::Take;
using testing::TakeData;
using testing::XgboostKit;

template <class Kit>
class LockstepReserved : public testing::GbmTest<typename Kit::Api> {};
using Kits = ::testing::Types<LightGbmKit, XgboostKit>;
TYPED_TEST_SUITE(LockstepReserved, Kits);

// Every seventh row is reserved, every eleventh of the rest is left alone. The first is reserved,
// so that no row of the problem has the number that it has in the data set.
struct Parts {
  Parts() = default;
  explicit Parts(std::size_t n) {
    for (std::int32_t row = 0; row < static_cast<std::int32_t>(n); ++row) {
      if (row % 7 == 0) {
        reserved.push_back(row);
      } else if (row % 11 != 0) {
        kept.push_back(row);
      }
    }
  }

  LockstepOptions Options(const GbmParameters& parameters) const {
    LockstepOptions options{.boosting = {.parameters = parameters}, .num_folds = 3};
    options.rows = kept;
    options.reserved_rows = reserved;
    return options;
  }

  std::vector<std::int32_t> kept, reserved;
};

void AddWeights(GeneratedData& data) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0.5, 2.0);
  for (std::size_t i = 0; i < data.rows.num_rows(); ++i) {
    data.rows.weights.push_back(uniform(random));
    data.rows.rate_weights.push_back(uniform(random));
  }
}

struct Case {
  GeneratedData data;
  std::vector<Constraint> constraints;
  LossOptions loss;
};

std::vector<Case> Tasks() {
  std::vector<Case> tasks;
  tasks.push_back({testing::TwoGroups(900, 1), Parse({"gap(error, by=group) <= 1%"}), {}});
  tasks.push_back({testing::TwoGroups(900, 2), Parse({"fnr <= 20%"}), {}});
  AddWeights(tasks.back().data);
  tasks.push_back({testing::ThreeClasses(600, 3), Parse({"error(class=1) <= 10%"}), {}});
  tasks.push_back(
      {testing::NoisyLine(600, 4), Parse({"loss(group=b) <= 0.2"}), {.kind = LossKind::kSquared}});
  return tasks;
}

// Steps under limits, then, for classes, on costs.
void Train(LockstepLearner& learner, RateConstraints& constraints, const RowData& rows) {
  SolveAbpp(learner, constraints, testing::Iterations(6));
  if (rows.task() == Task::kRegression) return;
  std::vector<double> costs(constraints.compiled().cells.cells.size() * rows.labels.levels.size());
  for (std::size_t j = 0; j < costs.size(); ++j) costs[j] = 0.2 + 0.1 * static_cast<double>(j % 5);
  learner.StepOnCosts(costs, 5.0);
}

// Features of the other rows are in the data set, and in its bins; that is all.
TYPED_TEST(LockstepReserved, OtherRowsOfTheDataSetChangeNothing) {
  for (const Case& task : Tasks()) {
    const Parts parts(task.data.rows.num_rows());
    const GeneratedData kept = Take(task.data, parts.kept);
    const Objective objective(kept.rows, {.loss = task.loss});
    RateConstraints constraints(task.constraints, kept.rows, {}, task.loss);
    const auto all = MakeDataset<TypeParam>(task.data, TypeParam::Parameters());
    const LockstepOptions alone{.boosting = {.parameters = TypeParam::Parameters()},
                                .num_folds = 3};
    const auto expected =
        TypeParam::Lockstep(TakeData(all, task.data, parts.kept), objective, constraints, alone);
    Train(*expected, constraints, kept.rows);
    const auto learner =
        TypeParam::Lockstep(all, objective, constraints, parts.Options(TypeParam::Parameters()));
    Train(*learner, constraints, kept.rows);
    ASSERT_EQ(learner->fold_of_row().size(), parts.kept.size());
    const double tolerance = std::is_same_v<TypeParam, LightGbmKit> ? 0.0 : TypeParam::kTolerance;
    EXPECT_LE(LargestDifference(learner->scores(), expected->scores()), tolerance);
    EXPECT_LE(LargestDifference(TypeParam::Predict(learner->Model(), task.data),
                                TypeParam::Predict(expected->Model(), task.data)),
              tolerance);
    EXPECT_TRUE(expected->ReservedScores().empty());
  }
}

// The data set may come with labels and weights of all rows, as Python's do.
TYPED_TEST(LockstepReserved, LabelsInTheDataSetAreNotRead) {
  const GeneratedData data = testing::TwoGroups(600, 5);
  const Parts parts(600);
  const GeneratedData kept = Take(data, parts.kept);
  const Objective objective(kept.rows, {});
  RateConstraints constraints(Parse({"fnr <= 20%"}), kept.rows);
  const auto all = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  RowData labels = data.rows;
  labels.weights.assign(600, 1.0);
  std::vector<std::string> models;
  for (int run = 0; run < 2; ++run) {
    // A stock training leaves its labels and weights in the data set.
    TypeParam::NativeModel(all, labels, TypeParam::Parameters(), 1);
    const auto learner =
        TypeParam::Lockstep(all, objective, constraints, parts.Options(TypeParam::Parameters()));
    Train(*learner, constraints, kept.rows);
    models.push_back(learner->Model());
    for (const std::int32_t row : parts.reserved) {
      std::int32_t& code = labels.labels.codes[static_cast<std::size_t>(row)];
      code = 1 - code;
      labels.weights[static_cast<std::size_t>(row)] = 3.0;
    }
  }
  EXPECT_TRUE(models[0] == models[1]);
}

TYPED_TEST(LockstepReserved, TheirScoresAreThoseOfTheExportedModel) {
  for (const Case& task : Tasks()) {
    const Parts parts(task.data.rows.num_rows());
    const GeneratedData kept = Take(task.data, parts.kept);
    const GeneratedData reserved = Take(task.data, parts.reserved);
    const Objective objective(kept.rows, {.loss = task.loss});
    RateConstraints constraints(task.constraints, kept.rows, {}, task.loss);
    const auto all = MakeDataset<TypeParam>(task.data, TypeParam::Parameters());
    const auto learner =
        TypeParam::Lockstep(all, objective, constraints, parts.Options(TypeParam::Parameters()));
    const auto expect_exported = [&](const char* when) {
      EXPECT_LE(LargestDifference(learner->ReservedScores(),
                                  TypeParam::Predict(learner->Model(), reserved)),
                TypeParam::kTolerance)
          << when;
      // Rows of the problem are scored by every fold's model once.
      Scores mean(learner->scores().begin(), learner->scores().end());
      for (std::size_t m = 0; m < learner->models_per_row(); ++m) {
        const Scores trained = learner->TrainedScores(m);
        for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += trained[i];
      }
      for (double& score : mean) score /= 3.0;
      EXPECT_LE(LargestDifference(mean, TypeParam::Predict(learner->Model(), kept)),
                TypeParam::kTolerance)
          << when;
    };
    const Scores start(learner->ReservedScores().begin(), learner->ReservedScores().end());
    ASSERT_EQ(start.size(), parts.reserved.size() * kept.rows.num_scores());
    Train(*learner, constraints, kept.rows);
    expect_exported("after steps");
    EXPECT_GT(LargestDifference(learner->ReservedScores(), start), 0.01);
    const auto state = learner->Save();
    learner->AccumulateAverage(1.0);
    const std::vector<double> multipliers(constraints.size(), 0.5);
    ProximalStep step;
    step.constraints = &constraints;
    step.multipliers = multipliers;
    learner->Step(step);
    expect_exported("after one more");
    learner->AccumulateAverage(1.0);
    learner->Restore(*state);
    expect_exported("taken back");
    learner->ResetAverage();
    learner->AccumulateAverage(1.0);
    learner->Step(step);
    learner->AccumulateAverage(2.0);
    expect_exported("before the average");
    learner->UseAverage();
    expect_exported("average");
  }
}

TYPED_TEST(LockstepReserved, RowsThatDoNotFitAreRefused) {
  const GeneratedData data = testing::TwoGroups(100, 6);
  std::vector<std::int32_t> first_80(80);
  for (std::int32_t i = 0; i < 80; ++i) first_80[static_cast<std::size_t>(i)] = i;
  const GeneratedData kept = Take(data, first_80);
  const Objective objective(kept.rows, {});
  RateConstraints constraints({}, kept.rows);
  const auto all = MakeDataset<TypeParam>(data, TypeParam::Parameters());
  const auto error_of = [&](const std::vector<std::int32_t>& rows,
                            const std::vector<std::int32_t>& reserved) -> std::string {
    try {
      Parts parts;
      parts.kept = rows;
      parts.reserved = reserved;
      TypeParam::Lockstep(all, objective, constraints, parts.Options(TypeParam::Parameters()));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "nothing thrown";
  };
  EXPECT_EQ(error_of(first_80, {80, 99}), "nothing thrown");
  EXPECT_EQ(error_of({}, {}),
            "data set: 100 rows; allowed without `rows`: as many as the objective has, 80");
  EXPECT_EQ(error_of({1, 2}, {}), "rows: 2 values; allowed: one for each row of the objective, 80");
  EXPECT_EQ(error_of(first_80, {80, 100}),
            "reserved_rows: 100 after 80; allowed: rows of the data set, 0 to 99, in rising order");
  EXPECT_EQ(error_of(first_80, {-1}),
            "reserved_rows: -1 after none; allowed: rows of the data set, 0 to 99, in rising "
            "order");
  EXPECT_EQ(error_of(first_80, {90, 79}),
            "reserved_rows: 79 after 90; allowed: rows of the data set, 0 to 99, in rising order");
  EXPECT_EQ(error_of(first_80, {79, 90}),
            "reserved_rows: 79, which is among `rows` too; allowed: rows that the objective does "
            "not hold");
  std::vector<std::int32_t> twice = first_80;
  twice[1] = 0;
  EXPECT_EQ(error_of(twice, {}),
            "rows: 0 after 0; allowed: rows of the data set, 0 to 99, in rising order");
  const Objective of_all(data.rows, {});
  RateConstraints on_all({}, data.rows);
  Parts only_reserved;
  only_reserved.reserved = {3};
  EXPECT_THROW(
      TypeParam::Lockstep(all, of_all, on_all, only_reserved.Options(TypeParam::Parameters())),
      std::invalid_argument);
  Parts both;
  both.kept = first_80;
  both.reserved = {90};
  const LockstepOptions options = both.Options(TypeParam::Parameters());
  EXPECT_EQ(testing::ErrorOf([&] {
              if constexpr (std::is_same_v<TypeParam, LightGbmKit>) {
                LockstepLearner::LightGbm(all, objective, constraints, options, &all);
              } else {
                LockstepLearner::Xgboost(all, objective, constraints, options, &all);
              }
            }),
            "reserved_rows: given beside a data set of reserved rows; allowed: one of them");
}

}  // namespace
}  // namespace bregboost
