#include "bregboost/learners/xgboost_dataset.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gbm_test_support.h"
#include "generated_data.h"
#include "model/detail/number_array.h"
#include "model/detail/xgboost_model.h"
#include "xgboost_test_support.h"

namespace bregboost::testing {
namespace {

const GbmParameters kParameters = {{"max_depth", "4"}, {"nthread", "1"}, {"max_bin", "64"}};

// Some features are missing; all are floats, so that both precisions hold the same numbers.
GeneratedData WithGaps() {
  GeneratedData data = TwoGroups(900, 1);
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform;
  for (double& x : data.features) {
    x = uniform(random) < 0.2 ? std::numeric_limits<double>::quiet_NaN()
                              : static_cast<double>(static_cast<float>(x));
  }
  return data;
}

// Two columns of codes whose values have no order, and one number.
GeneratedData WithCategories() {
  GeneratedData data;
  data.num_features = 3;
  std::mt19937 random(5);
  std::uniform_int_distribution<int> code(0, 7);
  std::normal_distribution<double> normal;
  std::vector<std::string> labels;
  for (int i = 0; i < 1200; ++i) {
    const int a = code(random);
    const int b = code(random);
    const double x = normal(random);
    data.features.insert(data.features.end(), {static_cast<double>(a), x, static_cast<double>(b)});
    labels.emplace_back((a * 5 % 8 < 4) != (b % 3 == 1) || x > 1.5 ? "1" : "0");
  }
  data.rows.labels = EncodeColumn("label", labels);
  return data;
}

struct ColumnMajorCopy {
  explicit ColumnMajorCopy(const GeneratedData& data) {
    const std::size_t rows = data.rows.num_rows();
    for (std::size_t j = 0; j < data.num_features; ++j) {
      for (std::size_t i = 0; i < rows; ++i) {
        values.push_back(data.features[i * data.num_features + j]);
      }
    }
  }
  std::vector<double> values;
};

// What is not missing.
struct CsrCopy {
  explicit CsrCopy(const GeneratedData& data) {
    for (std::size_t i = 0; i < data.rows.num_rows(); ++i) {
      for (std::size_t j = 0; j < data.num_features; ++j) {
        const double x = data.features[i * data.num_features + j];
        if (std::isnan(x)) continue;
        columns.push_back(static_cast<std::int32_t>(j));
        values.push_back(x);
      }
      offsets.push_back(static_cast<std::int64_t>(values.size()));
    }
  }
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

std::vector<float> Floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

class XgboostDatasetTest : public XgboostTest {};

TEST_F(XgboostDatasetTest, EveryLayoutAndPrecisionGivesTheSameModel) {
  const GeneratedData data = WithGaps();
  const std::size_t rows = data.rows.num_rows();
  const std::size_t columns = data.num_features;
  const ColumnMajorCopy by_column(data);
  const CsrCopy csr(data);
  const std::vector<float> row_floats = Floats(data.features);
  const std::vector<float> column_floats = Floats(by_column.values);
  const std::vector<float> csr_floats = Floats(csr.values);
  const std::vector<FeatureArray> arrays = {
      Features(data),
      FeatureArray::RowMajor(row_floats, rows, columns),
      FeatureArray::ColumnMajor(by_column.values, rows, columns),
      FeatureArray::ColumnMajor(column_floats, rows, columns),
      FeatureArray::Csr(csr.offsets, csr.columns, csr.values, columns),
      FeatureArray::Csr(csr.offsets, csr.columns, csr_floats, columns)};
  for (const char* method : {"hist", "exact"}) {
    GbmParameters parameters = kParameters;
    parameters["tree_method"] = method;
    std::string first_model;
    std::vector<float> first_scores;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      SCOPED_TRACE(std::string(method) + ", array " + std::to_string(i));
      const auto train = XgboostDataset::FromArray(arrays[i], parameters);
      const auto held_out = XgboostDataset::FromArray(arrays[i], parameters, &train);
      EXPECT_EQ(train.num_rows(), rows);
      EXPECT_EQ(train.num_columns(), columns);
      const auto booster = MakeBooster(train, data.rows, parameters, {{held_out}});
      EXPECT_EQ(TrainBooster(*booster, data.rows, 5), 5);
      EXPECT_EQ(Copy(booster->HeldOutScores(0)), Copy(booster->TrainScores()));
      if (i == 0) {
        first_model = booster->Serialize();
        first_scores = Copy(booster->TrainScores());
      }
      EXPECT_EQ(booster->Serialize(), first_model);
      EXPECT_EQ(Copy(booster->TrainScores()), first_scores);
    }
  }
}

TEST_F(XgboostDatasetTest, MissingValuesGoWhereTheLibrarySendsThem) {
  const GeneratedData data = WithGaps();
  const auto train = XgboostDataset::FromArray(Features(data), kParameters);
  NativeXgboost native(train, data.rows, kParameters);
  native.Train(15);
  const auto booster = MakeBooster(train, data.rows, kParameters);
  TrainBooster(*booster, data.rows, 15);
  EXPECT_LE(LargestDifference(Copy(booster->TrainScores()), native.Margins(train)), 2e-6);
}

TEST_F(XgboostDatasetTest, CategoricalColumnsSplitBySets) {
  const GeneratedData data = WithCategories();
  for (const char* method : {"hist", "approx"}) {
    SCOPED_TRACE(method);
    GbmParameters parameters = kParameters;
    parameters["tree_method"] = method;
    parameters["max_cat_to_onehot"] = "2";
    FeatureArray features = Features(data);
    features.categorical = {0, 2};
    features.names = {"colour", "size", "town"};
    const auto train = XgboostDataset::FromArray(features, parameters);
    const auto held_out = XgboostDataset::FromArray(features, parameters, &train);
    NativeXgboost native(train, data.rows, parameters);
    native.Train(10);
    const auto booster = MakeBooster(train, data.rows, parameters, {{held_out}});
    EXPECT_EQ(TrainBooster(*booster, data.rows, 10), 10);
    EXPECT_LE(LargestDifference(Copy(booster->TrainScores()), native.Margins(train)), 2e-6);
    EXPECT_EQ(Copy(booster->HeldOutScores(0)), Copy(booster->TrainScores()));
    detail::XgboostModel model = detail::ParseXgboostModel(booster->Serialize(), "trained");
    for (const detail::Json& tree : model.trees()) {
      EXPECT_GT(detail::SizeOf(tree["categories"]), 0) << "a tree without sets";
    }
  }
}

TEST_F(XgboostDatasetTest, TheModelKnowsTheNamesAfterEveryWayBack) {
  const GeneratedData data = WithCategories();
  FeatureArray features = Features(data);
  features.categorical = {0, 2};
  features.names = {"colour", "size", "town"};
  const auto train = XgboostDataset::FromArray(features, kParameters);
  const auto booster = MakeBooster(train, data.rows, kParameters);
  for (const std::int64_t rounds : {4, 2, 0}) {
    TrainBooster(*booster, data.rows, 4);
    booster->RollBackTo(rounds);
    const detail::Json learner =
        detail::ParseXgboostModel(booster->Serialize(), "trained").learner();
    EXPECT_EQ(learner["feature_names"], detail::Json({"colour", "size", "town"})) << rounds;
    EXPECT_EQ(learner["feature_types"], detail::Json({"c", "q", "c"})) << rounds;
  }
}

TEST_F(XgboostDatasetTest, AnAdoptedMatrixStaysItsOwners) {
  const GeneratedData data = TwoGroups(400, 1);
  const std::vector<float> values = Floats(data.features);
  void* matrix = nullptr;
  api().Check(api().DMatrixCreateFromDense(
                  detail::ArrayInterface(values.data(), std::size_t{400}, data.num_features,
                                         data.num_features, std::size_t{1})
                      .c_str(),
                  R"({"missing":NaN})", &matrix),
              "making a matrix");
  const detail::XgboostMatrixHandle owner(matrix, {&api()});
  {
    const auto adopted = XgboostDataset::Adopt(matrix);
    EXPECT_EQ(adopted.handle(), matrix);
    EXPECT_EQ(adopted.num_rows(), 400U);
    EXPECT_EQ(adopted.num_columns(), data.num_features);
    EXPECT_TRUE(adopted.BaseMargin().empty());
    const auto booster = MakeBooster(adopted, data.rows, kParameters);
    EXPECT_EQ(TrainBooster(*booster, data.rows, 3), 3);
  }
  detail::XgboostApi::Unsigned rows = 0;
  EXPECT_EQ(api().DMatrixNumRow(matrix, &rows), 0);
  EXPECT_EQ(rows, 400U);

  // Base margins that the owner has set count.
  auto adopted = XgboostDataset::Adopt(matrix);
  SetInfo(adopted, "base_margin", std::vector<float>(400, 0.75F));
  EXPECT_EQ(adopted.BaseMargin(), std::vector<double>(400, 0.75));
  const auto booster = MakeBooster(adopted, data.rows, kParameters);
  EXPECT_EQ(Copy(booster->TrainScores()), std::vector<float>(400, 0.75F));
  EXPECT_EQ(booster->StartingScores(), std::vector<double>{0.0});
}

TEST_F(XgboostDatasetTest, RefusesWhatDoesNotFit) {
  EXPECT_THROW(XgboostDataset::Adopt(nullptr), std::invalid_argument);
  const GeneratedData data = TwoGroups(100, 1);
  EXPECT_THROW(XgboostDataset::FromArray(Features(data), {{"max_bin", "1"}}),
               std::invalid_argument);
  EXPECT_THROW(XgboostDataset::FromArray(Features(data), {{"max_bin", "many"}}),
               std::invalid_argument);
  auto dataset = XgboostDataset::FromArray(Features(data), kParameters);
  EXPECT_THROW(dataset.SetBaseMargin(std::vector<double>(150)), std::invalid_argument);
  EXPECT_THROW(dataset.SetBaseMargin({}), std::invalid_argument);

  std::vector<double> infinite = data.features;
  infinite[7] = std::numeric_limits<double>::infinity();
  try {
    XgboostDataset::FromArray(FeatureArray::RowMajor(infinite, 100, data.num_features),
                              kParameters);
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("inf"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace bregboost::testing
