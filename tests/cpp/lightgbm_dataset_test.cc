#include "bregboost/learners/lightgbm_dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "boosted_kits.h"
#include "bregboost/solve/abpp.h"
#include "error_text.h"
#include "learners/detail/no_constraints.h"

namespace bregboost {
namespace {

using testing::ErrorOf;
using testing::GeneratedData;
using testing::LargestDifference;
using testing::LightGbmKit;
using testing::Scores;

using LightGbmDatasets = testing::LightGbmTest;

// Every third value of the second column missing, the first one of few integer values.
GeneratedData Gappy() {
  GeneratedData data = testing::TwoGroups(600, 31);
  for (std::size_t i = 0; i < data.rows.num_rows(); ++i) {
    double& first = data.features[i * data.num_features];
    first = std::round(std::clamp(first, -2.0, 2.0) * 2.0) + 4.0;
    if (i % 3 == 0) {
      data.features[i * data.num_features + 1] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return data;
}

Scores Train(const LightGbmDataset& dataset, const GeneratedData& data) {
  const Objective objective(data.rows, {});
  const auto learner =
      BoostedLearner::LightGbm(dataset, objective, {.parameters = LightGbmKit::Parameters()});
  detail::NoConstraints none;
  AbppOptions options;
  options.termination.max_iterations = 15;
  options.termination.stationarity_tolerance = 0.0;
  SolveAbpp(*learner, none, options);
  return {learner->scores().begin(), learner->scores().end()};
}

TEST_F(LightGbmDatasets, EveryLayoutAndTypeBinsAlike) {
  GeneratedData data = Gappy();
  // Values that a float holds, so that the types agree.
  for (double& value : data.features) value = static_cast<double>(static_cast<float>(value));
  const std::size_t n = data.rows.num_rows();
  const std::size_t columns = data.num_features;
  const std::vector<float> floats(data.features.begin(), data.features.end());
  std::vector<double> by_column(n * columns);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < columns; ++j) by_column[j * n + i] = data.features[i * columns + j];
  }
  const std::vector<float> floats_by_column(by_column.begin(), by_column.end());
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int32_t> indices;
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      if (data.features[i * columns + j] == 0.0) continue;  // absent means 0 here
      indices.push_back(static_cast<std::int32_t>(j));
      values.push_back(data.features[i * columns + j]);
    }
    offsets.push_back(static_cast<std::int64_t>(values.size()));
  }
  const Scores expected =
      Train(LightGbmDataset::FromArray(FeatureArray::RowMajor(data.features, n, columns)), data);
  for (const FeatureArray& features : {FeatureArray::RowMajor(floats, n, columns),
                                       FeatureArray::ColumnMajor(by_column, n, columns),
                                       FeatureArray::ColumnMajor(floats_by_column, n, columns),
                                       FeatureArray::Csr(offsets, indices, values, columns)}) {
    EXPECT_LT(LargestDifference(Train(LightGbmDataset::FromArray(features), data), expected),
              1e-12);
  }
}

TEST_F(LightGbmDatasets, CategoricalColumnsAndNamesReachTheModel) {
  const GeneratedData data = Gappy();
  FeatureArray features =
      FeatureArray::RowMajor(data.features, data.rows.num_rows(), data.num_features);
  features.categorical = {0};
  features.names = {"kind", "gappy", "c", "d"};
  GbmParameters parameters = LightGbmKit::Parameters();
  parameters["min_data_per_group"] = "5";
  parameters["cat_smooth"] = "1";
  const LightGbmDataset dataset = LightGbmDataset::FromArray(features, parameters);
  const Objective objective(data.rows, {});
  const auto learner = BoostedLearner::LightGbm(dataset, objective, {.parameters = parameters});
  detail::NoConstraints none;
  AbppOptions options;
  options.termination.max_iterations = 15;
  options.termination.stationarity_tolerance = 0.0;
  SolveAbpp(*learner, none, options);
  const std::string model = learner->Model();
  EXPECT_NE(model.find("feature_names=kind gappy c d"), std::string::npos);
  EXPECT_NE(model.find("cat_threshold="), std::string::npos);
  EXPECT_LT(LargestDifference(LightGbmKit::Predict(model, data), learner->scores()), 1e-12);
}

// A Dataset that somebody else made, with fields of its own.
TEST_F(LightGbmDatasets, ForeignHandlesTrainAndStayAsTheyWere) {
  const GeneratedData data = testing::TwoGroups(500, 32);
  const LightGbmDataset theirs = testing::MakeDataset<LightGbmKit>(data, {});
  const std::vector<float> labels(data.rows.num_rows(), 5.0F);
  api().Check(api().DatasetSetField(theirs.handle(), "label", labels.data(),
                                    static_cast<int>(labels.size()), detail::kLgbFloat32),
              "label");
  const LightGbmDataset adopted = LightGbmDataset::Adopt(theirs.handle());
  EXPECT_EQ(adopted.num_rows(), 500U);
  EXPECT_EQ(adopted.num_features(), 4U);
  EXPECT_LT(LargestDifference(Train(adopted, data), Train(theirs, data)), 1e-15);
  EXPECT_TRUE(theirs.initial_scores().empty());  // the start was only lent
  int size = 0;
  int type = 0;
  const void* found = nullptr;
  api().Check(api().DatasetGetField(theirs.handle(), "label", &size, &found, &type), "label");
  EXPECT_EQ(static_cast<const float*>(found)[7], 5.0F);
  EXPECT_THROW(LightGbmDataset::Adopt(nullptr), std::invalid_argument);
}

TEST_F(LightGbmDatasets, TheObjectiveIsTheLearnersBusiness) {
  const GeneratedData data = testing::ThreeClasses(90, 35);
  EXPECT_NO_THROW(testing::MakeDataset<LightGbmKit>(data, {{"objective", "multiclass"}}));
}

TEST_F(LightGbmDatasets, WhatDoesNotFitIsRefused) {
  const GeneratedData data = testing::TwoGroups(100, 33);
  LightGbmDataset dataset = testing::MakeDataset<LightGbmKit>(data, {});
  EXPECT_THROW(dataset.SetInitialScores(std::vector<double>(99)), std::invalid_argument);
  EXPECT_THROW(dataset.Subset(std::vector<std::int32_t>{3, 1}), std::invalid_argument);
  EXPECT_THROW(dataset.Subset(std::vector<std::int32_t>{3, 100}), std::invalid_argument);
  EXPECT_THROW(dataset.Subset({}), std::invalid_argument);
  const GeneratedData other = testing::TwoGroups(90, 34);
  const Objective objective(other.rows, {});
  EXPECT_THROW(BoostedLearner::LightGbm(dataset, objective, {}), std::invalid_argument);
  // Initial scores on one side only.
  const Objective own(data.rows, {});
  const HeldOut<LightGbmDataset> held_out{
      .dataset = testing::MakeDataset<LightGbmKit>(data, {}, &dataset), .objective = &own};
  dataset.SetInitialScores(std::vector<double>(100, 0.5));
  EXPECT_THROW(BoostedLearner::LightGbm(dataset, own, {}, {&held_out, 1}), std::invalid_argument);
  dataset.SetInitialScores(std::vector<double>(200, 0.5));  // more than before
  EXPECT_EQ(dataset.initial_scores().size(), 200U);
  EXPECT_EQ(ErrorOf([&] { BoostedLearner::LightGbm(dataset, own, {}); }),
            "initial scores of the training set: 200 values; allowed: 100 rows x 1 scores");
}

// Scores would be written beyond their end.
TEST_F(LightGbmDatasets, ALibraryThatCountsOtherScoresIsAnError) {
  const GeneratedData data = testing::TwoGroups(100, 36);
  const LightGbmDataset dataset = testing::MakeDataset<LightGbmKit>(data, {});
  const Objective objective(data.rows, {});
  const auto learner = BoostedLearner::LightGbm(dataset, objective, {});
  auto& count = const_cast<detail::LightGbmApi&>(api()).BoosterGetNumPredict;
  const auto real = std::exchange(count, [](void*, int, std::int64_t* out) {
    *out = 101;
    return 0;
  });
  try {
    learner->scores();
    ADD_FAILURE() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "LightGBM, reading scores: 101 of them; expected: 100");
  }
  count = real;
}

// Numbers of rows in LightGBM have 32 bits. The values are not looked at before.
TEST(LightGbmDatasetSizes, MoreRowsThanLightGbmCountsAreRefused) {
  const double value = 1.0;
  FeatureArray features = FeatureArray::RowMajor({&value, 1}, 1, 1);
  features.rows = features.num_values = std::size_t{1} << 31U;
  EXPECT_EQ(ErrorOf([&] { LightGbmDataset::FromArray(features); }),
            "rows: 2147483648; allowed by LightGBM: at most 2147483647");
}

TEST(FeatureArrays, AreChecked) {
  const std::vector<double> values(12, 1.0);
  const auto dense = [&](std::size_t rows, std::size_t columns) {
    return ErrorOf([&] { FeatureArray::RowMajor(values, rows, columns); });
  };
  EXPECT_EQ(dense(5, 2), "values: 12 numbers; allowed: 5 rows x 2 columns");
  EXPECT_EQ(dense(0, 2), "rows: 0; allowed: at least 1");
  EXPECT_EQ(dense(12, 0), "columns: 0; allowed: at least 1");
  FeatureArray features = FeatureArray::RowMajor(values, 6, 2);
  const auto error = [&] { return ErrorOf([&] { Validate(features); }); };
  features.names = {"a"};
  EXPECT_EQ(error(), "names: 1; allowed: none, or one per column, 2");
  features.names = {"a", "a"};
  EXPECT_EQ(error(), "names: one occurs twice; allowed: distinct names");
  features.names = {"a", "b"};
  features.categorical = {2};
  EXPECT_EQ(error(), "categorical: column 2; allowed: 0 to 1");
}

TEST(FeatureArrays, OfSparseRowsAreChecked) {
  const std::vector<std::int64_t> offsets = {0, 1, 2}, falling = {0, 3, 2}, late = {1, 1, 2};
  const std::vector<std::int32_t> indices = {0, 3};
  const std::vector<double> entries = {1.0, 2.0}, three(3, 1.0);
  const auto error = [&](const std::vector<std::int64_t>& rows, const std::vector<double>& values,
                         std::size_t columns) {
    return ErrorOf([&] { FeatureArray::Csr(rows, indices, values, columns); });
  };
  EXPECT_EQ(error(offsets, entries, 4), "no error");
  EXPECT_EQ(error(offsets, entries, 2), "column_indices: 3; allowed: 0 to 1");
  EXPECT_EQ(error(offsets, three, 4), "column_indices: 2 values; allowed: as many as values, 3");
  EXPECT_EQ(error(falling, entries, 4),
            "row_offsets: not in order; allowed: each at least the one before");
  EXPECT_EQ(error(late, entries, 4),
            "row_offsets: from 1 to 2; allowed: from 0 to the number of values, 2");
  FeatureArray features = FeatureArray::Csr(offsets, indices, entries, 4);
  features.rows = 3;
  EXPECT_EQ(ErrorOf([&] { Validate(features); }), "row_offsets: 3 values; allowed: rows + 1 = 4");
}

}  // namespace
}  // namespace bregboost
