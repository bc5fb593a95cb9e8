// Model files read back, against the learner that wrote them and against closed forms.
#include "bregboost/model/stored_model.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "boosted_kits.h"
#include "error_text.h"
#include "model_texts.h"

namespace bregboost {
namespace {

using namespace testing;  // NOLINT: the kits

template <class Kit>
class StoredModelTest : public GbmTest<typename Kit::Api> {
 protected:
  static FeatureArray Dense(const GeneratedData& data) {
    return FeatureArray::RowMajor(std::span<const double>(data.features), data.rows.num_rows(),
                                  data.num_features);
  }
  static StoredModel Load(const std::string& model) {
    if constexpr (std::is_same_v<Kit, LightGbmKit>) {
      return StoredModel::LightGbm(model);
    } else {
      return StoredModel::Xgboost(model);
    }
  }
  // Ten rounds, and their scores.
  static std::string Train(const GeneratedData& data, Scores& scores) {
    const auto dataset = Kit::Dataset::FromArray(Dense(data), Kit::Parameters());
    const Objective objective(data.rows, {});
    const auto learner = Kit::Learner(dataset, objective, {.parameters = Kit::Parameters()});
    for (int round = 0; round < 10; ++round) learner->Step({.tau = 1.0});
    scores.assign(learner->scores().begin(), learner->scores().end());
    return learner->Model();
  }
};

using Kits = ::testing::Types<LightGbmKit, XgboostKit>;
TYPED_TEST_SUITE(StoredModelTest, Kits);

TYPED_TEST(StoredModelTest, ScoresAreTheLearners) {
  for (const GeneratedData& data : {TwoGroups(300, 3), ThreeClasses(300, 4)}) {
    Scores trained;
    const StoredModel model = this->Load(this->Train(data, trained));
    EXPECT_LT(LargestDifference(model.Scores(this->Dense(data)), trained), 5e-6);
  }
}

// However the numbers lie in memory.
TYPED_TEST(StoredModelTest, LayoutsAgree) {
  const GeneratedData data = TwoGroups(200, 5);
  Scores trained;
  const StoredModel model = this->Load(this->Train(data, trained));
  const std::size_t rows = data.rows.num_rows(), columns = data.num_features;
  std::vector<double> by_column;
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < rows; ++i) by_column.push_back(data.features[i * columns + j]);
  }
  EXPECT_LT(LargestDifference(model.Scores(FeatureArray::ColumnMajor(
                                  std::span<const double>(by_column), rows, columns)),
                              trained),
            5e-6);
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> indices;
  for (std::size_t i = 0; i <= rows; ++i) offsets.push_back(static_cast<std::int64_t>(i * columns));
  for (std::size_t i = 0; i < rows * columns; ++i) {
    indices.push_back(static_cast<std::int32_t>(i % columns));
  }
  EXPECT_LT(
      LargestDifference(model.Scores(FeatureArray::Csr(
                            offsets, indices, std::span<const double>(data.features), columns)),
                        trained),
      5e-6);
}

TYPED_TEST(StoredModelTest, RefusesWhatIsNoModelAndOtherColumns) {
  EXPECT_EQ(ErrorOf([&] { this->Load("rows of something else"); }).find("model: no "), 0);
  const GeneratedData data = TwoGroups(200, 6);
  Scores trained;
  const StoredModel model = this->Load(this->Train(data, trained));
  const FeatureArray one_column =
      FeatureArray::RowMajor(std::span<const double>(data.features), data.features.size(), 1);
  EXPECT_EQ(ErrorOf([&] { model.Scores(one_column); }),
            fmt::format("features: 1 columns; allowed: as many as the model was trained on, {}",
                        data.num_features));
}

// The library does not get to see texts that would take it beyond its arrays.
TYPED_TEST(StoredModelTest, RefusesDamagedModels) {
  const GeneratedData data = ThreeClasses(200, 7);
  Scores trained;
  const std::string model = this->Train(data, trained);
  for (const std::size_t share : {4U, 2U}) {
    EXPECT_EQ(
        ErrorOf([&] { this->Load(model.substr(0, model.size() / share)); }).find("model: no "), 0);
  }
  if constexpr (std::is_same_v<TypeParam, LightGbmKit>) {
    std::string without_sizes = model;
    without_sizes.replace(without_sizes.find("tree_sizes="), 11, "tree_lengths=");
    EXPECT_EQ(ErrorOf([&] { this->Load(without_sizes); }),
              "model: no LightGBM model: no 'tree_sizes=', by which the trees are found");
    std::string one_class = model;
    one_class.replace(one_class.find("num_class=3"), 11, "num_class=1");
    EXPECT_EQ(ErrorOf([&] { this->Load(one_class); }),
              "model: no LightGBM model: num_class: 1; allowed: as num_tree_per_iteration, 3");
    std::string with_nul = model;
    with_nul[model.size() / 2] = '\0';
    EXPECT_EQ(ErrorOf([&] { this->Load(with_nul); }),
              "model: no LightGBM model: a NUL byte; allowed: text");
    EXPECT_EQ(ErrorOf([&] { this->Load(LightGbmModelText({})); }),
              "model: no LightGBM model: no trees; allowed: at least 1");
  }
}

// Whole models of which only the library knows that they are none.
TYPED_TEST(StoredModelTest, WhatTheLibraryRefusesIsPassedOn) {
  const bool lightgbm = std::is_same_v<TypeParam, LightGbmKit>;
  const std::string text = lightgbm
                               ? LightGbmModelText({LightGbmTreeText(0, {1, 2, 3})}, 1,
                                                   {.header = "objective=guessing\n"})
                               : XgboostModelText({XgboostTreeText(0, {1, 2, 3})},
                                                  {.objective = R"({"name":"binary:guessing"})"});
  const std::string error = ErrorOf([&] { this->Load(text); });
  EXPECT_TRUE(
      error.starts_with(lightgbm ? "model: no LightGBM model: " : "model: no XGBoost model: "))
      << error;
  EXPECT_NE(error.find("guessing"), std::string::npos) << error;
}

TEST(LinearFileTest, ScoresAreTheProducts) {
  LinearModel model{.coefficients = Eigen::MatrixXd(2, 3), .intercept = Eigen::VectorXd(3)};
  model.coefficients << 1.0, 2.0, 3.0, -1.0, 0.5, 0.1;
  model.intercept << 0.25, -1.0, 1e-300;
  const std::vector<std::string> names = {"a", "b"};
  const StoredModel stored = StoredModel::Linear(ToJson(model, names));
  const std::vector<double> rows = {1.0, 2.0, -3.0, 0.0};
  const auto features = FeatureArray::RowMajor(std::span<const double>(rows), 2, 2);
  const std::vector<double> want = {1.0 - 2.0 + 0.25, -3.0 + 0.25, 2.0 + 1.0 - 1.0,
                                    -6.0 - 1.0,       3.0 + 0.2,   -9.0 + 1e-300};
  EXPECT_EQ(stored.Scores(features), want);

  const std::vector<double> missing = {1.0, std::nan(""), 0.0, 0.0};
  EXPECT_EQ(ErrorOf([&] {
              stored.Scores(FeatureArray::RowMajor(std::span<const double>(missing), 2, 2));
            }),
            "features: value nan at position 1; allowed: finite");
  const std::vector<float> floats(4, 1.0F);
  EXPECT_EQ(ErrorOf([&] { stored.Scores(FeatureArray::RowMajor(floats, 2, 2)); }),
            "features: sparse, of single precision or with categories; allowed for a linear "
            "model: a dense array of doubles");
  EXPECT_EQ(ErrorOf([&] { ToJson(model, std::span(names).first(1)); }),
            "features: 1 names; allowed: one for each of 2 coefficients");
}

TEST(LinearFileTest, BadFilesAreNamed) {
  for (const char* text : {"", "[]", "{}", R"({"format":"bregboost linear model","version":2})",
                           R"({"format":"bregboost linear model","version":1,"features":["a"],)"
                           R"("coefficients":[[1,2]],"intercept":[0]})",
                           R"({"format":"bregboost linear model","version":1,"features":["a"],)"
                           R"("coefficients":[[1]],"intercept":[0,1]})",
                           R"({"format":"bregboost linear model","version":1,"features":"a",)"
                           R"("coefficients":[[1]],"intercept":[0]})",
                           R"({"format":"bregboost linear model","version":1,"features":[],)"
                           R"("coefficients":[],"intercept":[]})"}) {
    EXPECT_EQ(ErrorOf([&] { StoredModel::Linear(text); }).find("model: "), 0) << text;
  }
  const std::string deep =
      R"({"format":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_EQ(ErrorOf([&] { StoredModel::Linear(deep); }),
            "model: lists or objects nested 101 deep; allowed: at most 100");
}

TEST(ScoresTest, ProbabilitiesAndDecisions) {
  const std::vector<double> log_odds = {0.0, std::log(3.0), -std::log(3.0), 800.0};
  const std::vector<double> p = ClassProbabilities(log_odds, 4);
  const std::vector<double> want = {0.5, 0.5, 0.25, 0.75, 0.75, 0.25, 0.0, 1.0};
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(p[i], want[i], 1e-15);
  EXPECT_EQ(Decisions(log_odds, 4), (std::vector<std::int32_t>{0, 1, 0, 1}));

  // Two rows of three classes; ties go to the first.
  const std::vector<double> scores = {0.0, 900.0, std::log(2.0), 900.0, std::log(5.0), 1.0};
  const std::vector<double> q = ClassProbabilities(scores, 2);
  const std::vector<double> softmax = {0.125, 0.25, 0.625, 0.5, 0.5, 0.0};
  for (std::size_t i = 0; i < softmax.size(); ++i) EXPECT_NEAR(q[i], softmax[i], 1e-15);
  EXPECT_EQ(Decisions(scores, 2), (std::vector<std::int32_t>{2, 0}));
}

}  // namespace
}  // namespace bregboost
