#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "bregboost/model/tree_model.h"
#include "gbm_test_support.h"
#include "model/detail/lightgbm_text.h"
#include "model_texts.h"

namespace bregboost {
namespace {

using detail::LightGbmText;
using detail::ParseLightGbmText;
using testing::Contains;
using testing::LightGbmModelText;
using testing::LightGbmStumpText;
using testing::LightGbmTreeText;
using testing::MessageOf;
using testing::Replaced;

using Numbers = std::vector<double>;

std::string Export(const ModelPart& part, const ExportSpec& spec = {}) {
  return ExportLightGbm(std::vector<ModelPart>{part}, spec);
}

std::string ErrorOf(const std::string& text, const ExportSpec& spec = {}) {
  return MessageOf([&] { Export({.text = text}, spec); });
}

std::string TwoRounds() {
  return LightGbmModelText({LightGbmTreeText(0, {1, 2, 3}), LightGbmTreeText(1, {-1, 0.5, 4})});
}

TEST(LightGbmExport, PlainExportChangesTheObjectiveAlone) {
  const std::string before = TwoRounds();
  std::string expected =
      Replaced(before, "\nfeature_names=", "\nobjective=binary sigmoid:1\nfeature_names=");
  expected = Replaced(expected, "[objective: custom]", "[objective: binary]");
  expected = Replaced(expected, "[metric: custom]", "[metric: binary_logloss]");
  expected = Replaced(expected, "[sigmoid: 2]", "[sigmoid: 1]");
  EXPECT_EQ(Export({.text = before}), expected);
  EXPECT_EQ(Export({.text = expected}), expected);  // an objective that is there is replaced
}

TEST(LightGbmExport, LeavesAreWeightedScaledAndShifted) {
  const std::string before = TwoRounds();
  const std::string after = Export({.text = before, .round_weights = {1.0, 0.5}, .start = {0.25}},
                                   {.inverse_temperature = 2.0, .offsets = {-3.0}});
  const LightGbmText model = ParseLightGbmText(after, "exported");
  // 2 (0.25 + leaf) - 3, then 2 * 0.5 leaf.
  EXPECT_EQ(model.trees[0].leaf_values, (Numbers{-0.5, 1.5, 3.5}));
  EXPECT_EQ(model.trees[0].internal_values, (Numbers{-2, -3.5}));
  EXPECT_EQ(model.trees[0].shrinkage, 1.0);
  EXPECT_EQ(model.trees[1].leaf_values, (Numbers{-1, 0.5, 4}));
  EXPECT_EQ(model.trees[1].shrinkage, 0.1);
}

TEST(LightGbmExport, DoublesSurvive) {
  const double leaf = 0.1 + 1e-16;
  const std::string text = LightGbmModelText({LightGbmTreeText(0, {leaf, 1.0 / 3.0, -2e-300})});
  const LightGbmText model =
      ParseLightGbmText(Export({.text = text}, {.inverse_temperature = 1.0 / 3.0}), "exported");
  EXPECT_EQ(model.trees[0].leaf_values,
            (Numbers{leaf * (1.0 / 3.0), 1.0 / 3.0 * (1.0 / 3.0), -2e-300 * (1.0 / 3.0)}));
}

TEST(LightGbmExport, InnerNodesWithoutAValueStaySo) {
  const std::string tree =
      Replaced(LightGbmTreeText(0, {1, 2, 3}), "internal_value=0.25 ", "internal_value=nan ");
  const std::string text = LightGbmModelText({tree});
  EXPECT_TRUE(Contains(Export({.text = text}, {.offsets = {1.0}}), "\ninternal_value=nan 0.5\n"));
}

TEST(LightGbmExport, RoundsOfWeightZeroAreLeftOut) {
  const std::string text =
      LightGbmModelText({LightGbmTreeText(0, {1, 1, 1}), LightGbmStumpText(1, 2.0),
                         LightGbmTreeText(2, {3, 3, 3}), LightGbmTreeText(3, {4, 4, 4})});
  const std::string after =
      Export({.text = text, .round_weights = {0.0, 1.0, 1.0, 0.0}}, {.offsets = {10.0}});
  const LightGbmText model = ParseLightGbmText(after, "exported");  // checks numbers and sizes
  ASSERT_EQ(model.trees.size(), 2u);
  EXPECT_EQ(model.trees[0].leaf_values, (Numbers{12}));
  EXPECT_EQ(model.trees[1].leaf_values, (Numbers{3, 3, 3}));
  EXPECT_TRUE(Contains(after, "\nfeature_importances:\nage=1\njob=1\n\n"));
}

TEST(LightGbmExport, OffsetsGoToTheFirstTreeOfEachClass) {
  const std::string text = LightGbmModelText(
      {LightGbmTreeText(0, {1, 1, 1}), LightGbmTreeText(1, {2, 2, 2}), LightGbmStumpText(2, 0.0),
       LightGbmTreeText(3, {4, 4, 4}), LightGbmTreeText(4, {5, 5, 5}), LightGbmStumpText(5, 6.0)},
      3);
  const ExportSpec spec{
      .objective = ModelObjective::kMulticlass, .num_scores = 3, .offsets = {10.0, 20.0, 30.0}};
  const std::string after = Export({.text = text}, spec);
  const LightGbmText model = ParseLightGbmText(after, "exported");
  std::vector<double> first_leaves;
  for (const detail::LightGbmTree& tree : model.trees) first_leaves.push_back(tree.leaf_values[0]);
  EXPECT_EQ(first_leaves, (Numbers{11, 22, 30, 4, 5, 6}));
  EXPECT_TRUE(Contains(after, "\nobjective=multiclass num_class:3\nfeature_names="));
  EXPECT_TRUE(
      Contains(after, "\n[objective: multiclass]\n[metric: multi_logloss]\n[num_class: 3]\n"));
}

TEST(LightGbmExport, PartsAreInterleavedAndAveraged) {
  const std::string first =
      LightGbmModelText({LightGbmTreeText(0, {1, 1, 1}), LightGbmTreeText(1, {2, 2, 2})});
  const std::string second =
      LightGbmModelText({LightGbmTreeText(0, {10, 10, 10}), LightGbmTreeText(1, {20, 20, 20}),
                         LightGbmTreeText(2, {30, 30, 30})});
  const std::vector<ModelPart> parts = {
      {.text = first, .weight = 1.0, .start = {4.0}},
      {.text = second, .weight = 3.0, .round_weights = {1.0, 0.5, 0.125}, .start = {8.0}}};
  const LightGbmText model =
      ParseLightGbmText(ExportLightGbm(parts, {.offsets = {100.0}}), "exported");
  std::vector<double> first_leaves;
  for (const detail::LightGbmTree& tree : model.trees) first_leaves.push_back(tree.leaf_values[0]);
  EXPECT_EQ(first_leaves, (Numbers{0.25 + 7.0 + 100.0, 7.5, 0.5, 7.5, 2.8125}));
}

TEST(LightGbmExport, NothingLeftIsOneLeafPerClass) {
  const std::string empty = LightGbmModelText({}, 2);
  const ExportSpec spec{.objective = ModelObjective::kMulticlass,
                        .num_scores = 2,
                        .inverse_temperature = 0.5,
                        .offsets = {1.0, -1.0}};
  const LightGbmText model =
      ParseLightGbmText(Export({.text = empty, .start = {4.0, 8.0}}, spec), "exported");
  ASSERT_EQ(model.trees.size(), 2u);
  EXPECT_EQ(model.trees[0].leaf_values, (Numbers{3}));
  EXPECT_EQ(model.trees[1].leaf_values, (Numbers{3}));
}

TEST(LightGbmExport, TheUsersMetricAndCategoriesStay) {
  const std::string text = LightGbmModelText(
      {LightGbmTreeText(0, {1, 2, 3})}, 1, {.metric = "auc", .rest = "\npandas_categorical:[]\n"});
  const std::string after =
      Export({.text = text}, {.objective = ModelObjective::kHuber, .huber_delta = 1.5});
  EXPECT_TRUE(Contains(after, "\nobjective=huber\n"));
  EXPECT_TRUE(Contains(after, "\n[objective: huber]\n[metric: auc]\n"));
  EXPECT_TRUE(Contains(after, "\n[alpha: 1.5]\n"));
  EXPECT_TRUE(after.ends_with("\nend of parameters\n\npandas_categorical:[]\n"));
}

TEST(LightGbmExport, PartsMustShareFeatures) {
  const std::string first = TwoRounds();
  const std::vector<std::string> trees = {LightGbmTreeText(0, {1, 2, 3})};
  const std::string renamed = LightGbmModelText(trees, 1, {.feature_names = "job age"});
  const std::string recoded = LightGbmModelText(trees, 1, {.rest = "\npandas_categorical:[[1]]\n"});
  const auto error = [&](const std::string& second) {
    const std::vector<ModelPart> parts = {{.text = first}, {.text = second}};
    return MessageOf([&] { ExportLightGbm(parts, {}); });
  };
  EXPECT_EQ(error(renamed), "parts[1]: feature_names differs from that of parts[0]");
  EXPECT_EQ(error(recoded), "parts[1]: pandas_categorical differs from that of parts[0]");
  EXPECT_TRUE(Contains(error("tree\n"), "LightGBM model 2 of 2, line 1: "));
}

TEST(LightGbmExport, WhatOneFoldDoesNotKnowOfAFeatureAnotherOneTells) {
  const std::vector<std::string> trees = {LightGbmTreeText(0, {1, 2, 3})};
  const std::string first = LightGbmModelText(trees, 1, {.feature_infos = "[0:1] none"});
  const std::string second = LightGbmModelText(trees, 1, {.feature_infos = "none 0:1:3"});
  const std::vector<ModelPart> parts = {{.text = first}, {.text = second}};
  EXPECT_TRUE(Contains(ExportLightGbm(parts, {}), "\nfeature_infos=[0:1] 0:1:3\n"));
}

TEST(LightGbmExport, RefusalsSayWhatAndWhere) {
  const std::string text = LightGbmModelText({LightGbmTreeText(0, {1, 2, 3})});
  EXPECT_TRUE(Contains(ErrorOf(""), "line 0: the text ends before 'tree'"));
  EXPECT_TRUE(Contains(ErrorOf("{}"), "line 1: the first line is not 'tree'"));
  EXPECT_TRUE(
      Contains(ErrorOf(Replaced(text, "version=v4", "version=v9")), "line 2: version: 'v9'"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "is_linear=0", "is_linear=1")),
                       "is_linear: the leaves of linear trees are models themselves"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "feature_names=", "average_output\nfeature_names=")),
                       "line 7: average_output: a random forest"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "leaf_value=1 2 3", "leaf_value=1 2")),
                       "leaf_value: 2 values; expected 3"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "leaf_value=1 2 3", "leaf_value=1 2 x")),
                       "leaf_value: 'x' is not a number"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "leaf_value=1 2 3", "leaf_value=1 2 nan")),
                       "leaf_value: nan"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "leaf_count=8 12 20", "leaf_count=8 12")),
                       "leaf_count: 2 values"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "left_child=1 -1", "left_child=0 -1")),
                       "left_child: 0 at 0 is neither a later split nor a leaf"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "right_child=-2 -3", "right_child=-2 -4")),
                       "right_child: -4 at 1"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "split_feature=0 1", "split_feature=0 2")),
                       "split_feature: 2; there are 2 features"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "cat_boundaries=0 1", "cat_boundaries=0 2")),
                       "cat_threshold: 1 values; expected 2"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "leaf_count=8 12 20", "leaf_count=8  20")),
                       "leaf_count: '' is not a number"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "is_linear=0", "is_linear=0\nnum_leaves=9")),
                       "num_leaves: for the second time"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "is_linear=0", "is_linear=0\naverage_output")),
                       "expected 'key=value'"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "is_linear=0", "is_linear=0\rnum_leaves=9")),
                       "a carriage return"));
  // One more than the largest number is 0.
  EXPECT_TRUE(Contains(ErrorOf(Replaced(Replaced(text, "num_cat=1", "num_cat=18446744073709551615"),
                                        "cat_boundaries=0 1", "cat_boundaries=")),
                       "cat_boundaries: expected ascending numbers from 0"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "num_cat=1", "num_cat=0")),
                       "a split by categories; there are 0 sets of them (num_cat)"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "Tree=0", "Tree=1")), "expected 'Tree=0'"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "tree_sizes=", "tree_sizes=1 ")),
                       "tree_sizes: 2 values; expected 1"));
  EXPECT_TRUE(
      Contains(ErrorOf(Replaced(text, "leaf_weight=2 3 5", "leaf_weight=2 3 55")), "tree_sizes: "));
  EXPECT_TRUE(Contains(ErrorOf(text, {.objective = ModelObjective::kMulticlass, .num_scores = 2}),
                       "num_tree_per_iteration is 1; num_scores is 2"));
  EXPECT_TRUE(
      Contains(ErrorOf(text, {.inverse_temperature = 1e308, .offsets = {1e308}}), "is not finite"));
}

TEST(LightGbmExport, TextsThatAreCutShortAreRefused) {
  const std::string text = TwoRounds();
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    EXPECT_NE(ErrorOf(text.substr(0, size)), "no error") << size;
  }
}

TEST(LightGbmExport, DamagedTextsAreRefusedOrExportedWhole) {
  const std::string text = TwoRounds();
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = text;
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes) {
      damaged[random() % damaged.size()] = "\n =-0123456789.eT[x\xff"[random() % 20];
    }
    std::string exported;
    try {
      exported = Export({.text = damaged}, {.offsets = {1.0}});
    } catch (const std::invalid_argument&) {
      continue;
    }
    EXPECT_NO_THROW(ParseLightGbmText(exported, "exported")) << damaged;
  }
}

class LightGbmExportWithLibrary : public testing::LightGbmTest {
 protected:
  double Predict(const std::string& model, std::vector<double> row) const {
    void* booster = nullptr;
    int rounds = 0;
    api().Check(api().BoosterLoadModelFromString(model.c_str(), &rounds, &booster), "loading");
    double predicted = 0.0;
    std::int64_t length = 0;
    api().Check(
        api().BoosterPredictForMat(booster, row.data(), detail::kLgbFloat64, 1, 2, 1,
                                   /*raw scores*/ 1, 0, -1, "num_threads=1", &length, &predicted),
        "predicting");
    api().BoosterFree(booster);
    return predicted;
  }
};

TEST_F(LightGbmExportWithLibrary, LoadsAndPredicts) {
  const std::string text = TwoRounds();
  const std::string model = Export({.text = text, .round_weights = {1.0, 0.5}, .start = {0.25}},
                                   {.inverse_temperature = 2.0, .offsets = {-3.0}});
  EXPECT_DOUBLE_EQ(Predict(model, {0.0, 3.0}), 2 * (0.25 + 1 - 0.5) - 3);
  EXPECT_DOUBLE_EQ(Predict(model, {0.0, 2.0}), 2 * (0.25 + 3 + 2) - 3);
  EXPECT_DOUBLE_EQ(Predict(model, {1.0, 2.0}), 2 * (0.25 + 2 + 0.25) - 3);
  const std::string constant =
      Export({.text = text, .round_weights = {0.0, 0.0}}, {.offsets = {-3.0}});
  EXPECT_EQ(Predict(constant, {1.0, 2.0}), -3.0);
}

}  // namespace
}  // namespace bregboost
