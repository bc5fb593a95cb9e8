#include "bregboost/learners/linear_folds.h"

#include <gtest/gtest.h>

#include "bregboost/problem/parser.h"
#include "error_text.h"
#include "generated_data.h"

namespace bregboost {
namespace {

using testing::GeneratedData;

struct Problem {
  explicit Problem(GeneratedData generated)
      : data(std::move(generated)),
        objective(data.rows, {}),
        constraints({ParseConstraint("gap(error, by=group) <= 5%")}, data.rows),
        features(
            FeatureMatrix::DenseRowMajor(data.features, data.rows.num_rows(), data.num_features)) {}

  GeneratedData data;
  Objective objective;
  RateConstraints constraints;
  FeatureMatrix features;
};

ProximalStep Plain() {
  ProximalStep step;
  step.tau = 1e8;
  step.accuracy = {.delta = 0.0, .nu = 1e-12};
  return step;
}

std::vector<std::int32_t> RowsOutside(std::span<const std::int32_t> fold_of_row, std::int32_t k) {
  std::vector<std::int32_t> rows;
  for (std::size_t i = 0; i < fold_of_row.size(); ++i) {
    if (fold_of_row[i] != k) rows.push_back(static_cast<std::int32_t>(i));
  }
  return rows;
}

// Every fold's model is the one that its own rows alone would give.
TEST(LinearFolds, ScoresAreThoseOfModelsTrainedOnTheOtherFolds) {
  const Problem problem(testing::TwoGroups(400, 3));
  LinearFolds folds(problem.features, problem.objective, problem.constraints,
                    {.linear = {.l2 = 0.01}, .num_folds = 3});
  folds.Step(Plain());
  for (std::int32_t k = 0; k < 3; ++k) {
    const std::vector<std::int32_t> outside = RowsOutside(folds.fold_of_row(), k);
    const RowData rows = TakeRows(problem.data.rows, outside);
    const Objective objective(rows, {});
    LinearLearner alone(problem.features.TakeRows(outside), objective, {.l2 = 0.01});
    alone.Step(Plain());
    std::vector<double> scores(problem.data.rows.num_rows());
    problem.features.Multiply(alone.coefficients(), alone.intercept(), scores);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (folds.fold_of_row()[i] != k) continue;
      EXPECT_NEAR(folds.scores()[i], scores[i], 1e-4);
    }
  }
}

// Rows are scored by every model once, and the deployed one is the mean.
TEST(LinearFolds, EachModelScoresARowOnce) {
  const Problem problem(testing::TwoGroups(400, 4));
  LinearFolds folds(problem.features, problem.objective, problem.constraints,
                    {.linear = {.l2 = 0.01}, .num_folds = 3});
  folds.Step(Plain());
  ASSERT_EQ(folds.models_per_row(), 2);
  const std::vector<double> first = folds.TrainedScores(0), second = folds.TrainedScores(1);
  const LinearModel model = folds.Model();
  std::vector<double> mean(problem.data.rows.num_rows());
  problem.features.Multiply(model.coefficients, model.intercept, mean);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    EXPECT_NEAR((folds.scores()[i] + first[i] + second[i]) / 3.0, mean[i], 1e-12);
    EXPECT_NE(first[i], second[i]);
  }
}

// Costs that charge a miss of class 1 three times are a weight of three.
TEST(LinearFolds, CostsAreWeightsOfLabels) {
  const Problem problem(testing::TwoGroups(400, 5));
  GeneratedData weighted = testing::TwoGroups(400, 5);
  for (const std::int32_t label : weighted.rows.labels.codes) {
    weighted.rows.weights.push_back(label == 1 ? 3.0 : 1.0);
  }
  weighted.rows.rate_weights.assign(400, 1.0);
  const Problem by_weight(weighted);
  const LinearFoldsOptions options{.linear = {.l2 = 0.0}, .num_folds = 2};
  LinearFolds a(problem.features, problem.objective, problem.constraints, options);
  LinearFolds b(by_weight.features, by_weight.objective, by_weight.constraints, options);
  std::vector<double> costs;
  for (const Cell& cell : problem.constraints.compiled().cells.cells) {
    costs.push_back(cell.label == 0 ? 1.0 : 0.0);
    costs.push_back(cell.label == 1 ? 3.0 : 0.0);
  }
  a.StepOnCosts(costs, 20.0);
  b.Step(Plain());
  ASSERT_TRUE(std::equal(a.fold_of_row().begin(), a.fold_of_row().end(), b.fold_of_row().begin()));
  for (std::size_t i = 0; i < 400; ++i) EXPECT_NEAR(a.scores()[i], b.scores()[i], 2e-3);
}

TEST(LinearFolds, ModelIsTheMeanOfTheFoldsAndScoresReservedRows) {
  const Problem problem(testing::TwoGroups(300, 8));
  const GeneratedData other = testing::TwoGroups(50, 9);
  LinearFoldsOptions options{.linear = {.l2 = 0.01}, .num_folds = 3};
  options.reserved.emplace(FeatureMatrix::DenseRowMajor(other.features, 50, other.num_features));
  LinearFolds folds(problem.features, problem.objective, problem.constraints, options);
  const auto before = folds.Save();
  folds.Step(Plain());
  const LinearModel model = folds.Model({.temperature = 2.0, .offsets = {0.25}});
  std::vector<double> adjusted(50);
  options.reserved->Multiply(model.coefficients, model.intercept, adjusted);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_NEAR(adjusted[i], folds.ReservedScores()[i] / 2.0 + 0.25, 1e-12);
  }
  folds.Restore(*before);
  for (const double score : folds.scores()) EXPECT_EQ(score, 0.0);
}

// The fold that has the only row of a group would be trained without it.
TEST(LinearFolds, AGroupOfOneRowIsNamed) {
  GeneratedData data = testing::TwoGroups(100, 10);
  data.rows.groups[0].levels.emplace_back("lone");
  data.rows.groups[0].codes[7] = 2;
  const Problem problem(data);
  EXPECT_EQ(testing::ErrorOf([&] {
              LinearFolds(problem.features, problem.objective, problem.constraints,
                          {.num_folds = 3});
            }),
            "constraint 'gap(error, by=group) <= 5%': no rows with group=lone (or their weights "
            "are all 0); allowed: at least one row");
}

}  // namespace
}  // namespace bregboost
