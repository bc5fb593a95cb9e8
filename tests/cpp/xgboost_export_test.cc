#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "bregboost/model/tree_model.h"
#include "gbm_test_support.h"
#include "model/detail/number_array.h"
#include "model/detail/xgboost_json.h"
#include "model/detail/xgboost_model.h"
#include "model_texts.h"

namespace bregboost {
namespace {

using detail::Json;
using detail::ParseXgboostJson;
using detail::ParseXgboostModel;
using detail::XgboostJsonText;
using detail::XgboostModel;
using testing::Contains;
using testing::MessageOf;
using testing::Replaced;
using testing::XgboostModelText;
using testing::XgboostTreeText;

using Numbers = std::vector<float>;
using Table = std::vector<Numbers>;

std::string Export(const ModelPart& part, const ExportSpec& spec = {}) {
  return ExportXgboost(std::vector<ModelPart>{part}, spec);
}

// The same model as the library writes it in UBJSON.
std::string AsUbjson(const std::string& text) {
  const std::map<std::string, char> types = {
      {"base_weights", 'd'},        {"categories", 'l'},       {"categories_nodes", 'l'},
      {"categories_segments", 'L'}, {"categories_sizes", 'L'}, {"default_left", 'U'},
      {"left_children", 'l'},       {"loss_changes", 'd'},     {"parents", 'l'},
      {"right_children", 'l'},      {"split_conditions", 'd'}, {"split_indices", 'l'},
      {"split_type", 'U'},          {"sum_hessian", 'd'}};
  XgboostModel model = ParseXgboostModel(text, "text");
  for (Json& tree : model.trees()) {
    for (const auto& [key, type] : types) tree[key] = detail::Typed(tree[key], type);
  }
  return detail::UbjsonBytes(model.root);
}

std::string ErrorOf(const std::string& text, const ExportSpec& spec = {}) {
  return MessageOf([&] { Export({.text = text}, spec); });
}

std::string TwoRounds() {
  return XgboostModelText({XgboostTreeText(0, {1, 2, 3}), XgboostTreeText(1, {-1, 0.5, 4})});
}

// The leaf values of XgboostTreeText.
std::vector<float> Leaves(const Json& tree) {
  const Json& conditions = tree.at("split_conditions");
  return {conditions[3].get<float>(), conditions[2].get<float>(), conditions[4].get<float>()};
}

std::vector<std::vector<float>> AllLeaves(const std::string& text) {
  XgboostModel model = ParseXgboostModel(text, "exported");
  std::vector<std::vector<float>> leaves;
  for (const Json& tree : model.trees()) leaves.push_back(Leaves(tree));
  return leaves;
}

TEST(XgboostJson, NonFiniteNumbersAreReadAndWritten) {
  const std::string text = R"({"NaN":[NaN,Infinity,-Infinity,-1,"NaN","a\"Infinity",1.5,[],{}]})";
  const Json json = ParseXgboostJson(text, "text");
  EXPECT_TRUE(std::isnan(json["NaN"][0].get<double>()));
  EXPECT_GT(json["NaN"][1].get<double>(), 1e308);
  EXPECT_LT(json["NaN"][2].get<double>(), -1e308);
  EXPECT_EQ(json["NaN"][4], "NaN");
  EXPECT_EQ(XgboostJsonText(json), text);
}

TEST(XgboostJson, ErrorsSayWhere) {
  const auto error = [](const std::string& text) {
    return MessageOf([&] { ParseXgboostJson(text, "text"); });
  };
  EXPECT_TRUE(Contains(error("[NaN,Infinity,?]"), "text, byte 15: no JSON, or cut short: "));
  EXPECT_TRUE(Contains(error("[1,"), "text, byte 4: "));
  EXPECT_TRUE(Contains(error("\"\x7f\""), "text, byte 2: control character DEL"));
  EXPECT_TRUE(Contains(error(R"(["a","\u007f"])"), "text, byte 7: control character DEL"));
  EXPECT_FALSE(Contains(error(R"(["\\u007f"])"), "DEL"));
  EXPECT_TRUE(Contains(error(std::string(100'000, '[')), "nested deeper than 32"));
  EXPECT_TRUE(Contains(error("\"\xff\""), "text, byte 2: "));
}

TEST(XgboostJson, FloatsHaveTheFewestDigits) {
  EXPECT_EQ(detail::FloatJson(0.1f).dump(), "0.1");
  EXPECT_EQ(detail::FloatJson(-3.4028235e38f).dump(), "-3.4028235e+38");
}

TEST(XgboostExport, PlainBinaryExportLeavesTreesAlone) {
  XgboostModel before = ParseXgboostModel(TwoRounds(), "trained");
  XgboostModel after = ParseXgboostModel(Export({.text = TwoRounds()}), "exported");
  EXPECT_EQ(XgboostJsonText(after.trees()), XgboostJsonText(before.trees()));
  EXPECT_EQ(after.learner()["objective"], before.learner()["objective"]);
  EXPECT_EQ(after.learner()["feature_names"], before.learner()["feature_names"]);
  EXPECT_EQ(after.learner()["attributes"], Json({{"owner", "us"}}));
  EXPECT_EQ(after.learner()["learner_model_param"]["boost_from_average"], "0");
}

TEST(XgboostExport, LeavesAreWeightedScaledAndShifted) {
  const std::string after =
      Export({.text = TwoRounds(), .round_weights = {1.0, 0.5}, .start = {0.25}},
             {.inverse_temperature = 2.0, .offsets = {-3.0}});
  EXPECT_EQ(AllLeaves(after), (Table{{-0.5f, 1.5f, 3.5f}, {-1.0f, 0.5f, 4.0f}}));
  XgboostModel model = ParseXgboostModel(after, "exported");
  // Inner nodes move alike, leaves are there twice.
  EXPECT_EQ(model.trees()[0]["base_weights"].dump(), "[-0.5,1.5,1.5,-0.5,3.5]");
  EXPECT_EQ(XgboostJsonText(model.trees()[0]["split_conditions"]), "[0.5,NaN,1.5,-0.5,3.5]");
}

TEST(XgboostExport, LeavesAreRoundedOnce) {
  const float leaf = 0.1f;
  const double factor = 1.0 / 3.0;
  const std::string text = XgboostModelText({XgboostTreeText(0, {leaf, leaf, leaf})});
  const std::string after =
      Export({.text = text}, {.inverse_temperature = factor, .offsets = {7.7}});
  const auto expected = static_cast<float>(factor * static_cast<double>(leaf) + 7.7);
  EXPECT_EQ(AllLeaves(after), (Table{{expected, expected, expected}}));
}

TEST(XgboostExport, RoundsOfWeightZeroAreLeftOut) {
  const std::string text =
      XgboostModelText({XgboostTreeText(0, {1, 1, 1}), XgboostTreeText(1, {2, 2, 2}),
                        XgboostTreeText(2, {3, 3, 3})});
  const std::string after = Export({.text = text, .round_weights = {0.0, 1.0, 0.0}});
  XgboostModel model = ParseXgboostModel(after, "exported");
  EXPECT_EQ(model.num_rounds(), 1u);
  EXPECT_EQ(model.trees()[0]["id"], 0);
  EXPECT_EQ(model.ensemble()["gbtree_model_param"]["num_trees"], "1");
  EXPECT_EQ(AllLeaves(after), (Table{{2, 2, 2}}));
}

TEST(XgboostExport, ABaseScoreOfOneHalfIsTakenOutOfTheLeaves) {
  const std::string text = TwoRounds();
  for (const ModelObjective objective : {ModelObjective::kRegression, ModelObjective::kHuber}) {
    const std::string after = Export({.text = text, .start = {4.0}}, {.objective = objective});
    EXPECT_EQ(AllLeaves(after)[0], (Numbers{4.5f, 5.5f, 6.5f}));
    EXPECT_TRUE(Contains(after, R"("base_score":"[5E-1]")"));
  }
  EXPECT_TRUE(Contains(Export({.text = Replaced(text, R"("[5E-1]")", R"("3E-1")")}),
                       R"("base_score":"5E-1")"));
}

TEST(XgboostExport, ObjectivesAreNamed) {
  const std::string text = TwoRounds();
  EXPECT_TRUE(Contains(Export({.text = text}), R"("scale_pos_weight":"3")"));
  EXPECT_TRUE(Contains(Export({.text = text}, {.objective = ModelObjective::kRegression}),
                       R"("name":"reg:squarederror")"));
  EXPECT_TRUE(
      Contains(Export({.text = text}, {.objective = ModelObjective::kHuber, .huber_delta = 1.5}),
               R"("name":"reg:pseudohubererror","pseudo_huber_param":{"huber_slope":"1.5"})"));
}

TEST(XgboostExport, OffsetsGoToTheFirstTreeOfEachClass) {
  std::vector<std::string> trees;
  for (std::size_t t = 0; t < 8; ++t) trees.push_back(XgboostTreeText(t, {0, 0, 0}));
  const std::string text = XgboostModelText(
      trees, {.num_scores = 2, .num_parallel_trees = 2, .base_score = "[5E-1,5E-1]"});
  const ExportSpec spec{
      .objective = ModelObjective::kMulticlass, .num_scores = 2, .offsets = {1.5, 2.5}};
  const std::string after = Export({.text = text}, spec);
  std::vector<float> first_leaves;
  for (const std::vector<float>& leaves : AllLeaves(after)) first_leaves.push_back(leaves[0]);
  EXPECT_EQ(first_leaves, (Numbers{1, 0, 2, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(Contains(after, R"("base_score":"[5E-1,5E-1]")"));
  EXPECT_TRUE(Contains(after, R"("softmax_multiclass_param":{"num_class":"2"})"));
  EXPECT_TRUE(Contains(after, R"("iteration_indptr":[0,4,8],"tree_info":[0,0,1,1,0,0,1,1])"));
}

TEST(XgboostExport, PartsAreInterleavedAndAveraged) {
  const std::string first =
      XgboostModelText({XgboostTreeText(0, {1, 1, 1}), XgboostTreeText(1, {2, 2, 2})});
  const std::string second =
      XgboostModelText({XgboostTreeText(0, {10, 10, 10}), XgboostTreeText(1, {20, 20, 20}),
                        XgboostTreeText(2, {30, 30, 30})});
  const std::vector<ModelPart> parts = {
      {.text = first, .weight = 1.0, .start = {4.0}},
      {.text = second, .weight = 3.0, .round_weights = {1.0, 0.5, 0.1}, .start = {8.0}}};
  std::vector<float> first_leaves;
  const std::string after = ExportXgboost(parts, {.offsets = {100.0}});
  for (const std::vector<float>& leaves : AllLeaves(after)) first_leaves.push_back(leaves[0]);
  EXPECT_EQ(first_leaves, (Numbers{107.25f, 7.5f, 0.5f, 7.5f, 2.25f}));
  XgboostModel model = ParseXgboostModel(after, "exported");
  for (std::size_t t = 0; t < 5; ++t) EXPECT_EQ(model.trees()[t]["id"], t);
}

TEST(XgboostExport, NothingLeftIsOneLeafPerClass) {
  const std::string empty = XgboostModelText({}, {.num_scores = 2, .base_score = "[5E-1,5E-1]"});
  const ExportSpec spec{.objective = ModelObjective::kMulticlass,
                        .num_scores = 2,
                        .inverse_temperature = 0.5,
                        .offsets = {1.0, -1.0}};
  const std::string after = Export({.text = empty, .start = {4.0, 8.0}}, spec);
  XgboostModel model = ParseXgboostModel(after, "exported");
  ASSERT_EQ(model.trees().size(), 2u);
  EXPECT_EQ(model.trees()[0]["split_conditions"][0], 2.5);
  EXPECT_EQ(model.trees()[1]["split_conditions"][0], 2.5);
}

TEST(XgboostExport, PartsMustShareFeatures) {
  const std::string first = TwoRounds();
  const std::string second =
      XgboostModelText({XgboostTreeText(0, {1, 2, 3})}, {.feature_names = R"(["job","age"])"});
  const std::vector<ModelPart> parts = {{.text = first}, {.text = second}};
  EXPECT_EQ(MessageOf([&] { ExportXgboost(parts, {}); }),
            "parts[1]: feature_names differs from that of parts[0]");
}

TEST(XgboostExport, RefusalsSayWhatAndWhere) {
  const std::string text = XgboostModelText({XgboostTreeText(0, {1, 2, 3})});
  EXPECT_TRUE(Contains(ErrorOf("[]"), "XGBoost model: not a JSON object"));
  EXPECT_TRUE(Contains(ErrorOf("{}"), "XGBoost model: there is no 'learner'"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, R"("gbtree"})", R"("dart"})")),
                       "booster 'dart' cannot be exported: it keeps a weight beside each tree"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, R"("gbtree"})", R"("gblinear"})")),
                       "booster 'gblinear' cannot be exported: it has no trees"));
  EXPECT_TRUE(
      Contains(ErrorOf(Replaced(text, R"("size_leaf_vector":"1")", R"("size_leaf_vector":"3")")),
               "tree 0, tree_param: size_leaf_vector above 1: multi-output trees"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, R"("num_target":"1")", R"("num_target":"2")")),
                       "num_target above 1"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, R"("num_nodes":"5")", R"("num_nodes":"4")")),
                       "tree 0: 'default_left' has 5 values; expected 4"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, R"("num_nodes":"5")", R"("num_nodes":"five")")),
                       "'num_nodes' is 'five'; expected a count"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "[1,3,-1,-1,-1]", "[1,0,-1,-1,-1]")),
                       "tree 0: node 1 has child 0, which is no free node"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "[2,4,-1,-1,-1]", "[2,5,-1,-1,-1]")),
                       "tree 0: node 1 has child 5"));
  EXPECT_TRUE(
      Contains(ErrorOf(Replaced(text, R"("split_indices":[0,1)", R"("split_indices":[0,2)")),
               "tree 0: node 1 splits feature 2; there are 2 features"));
  EXPECT_TRUE(
      Contains(ErrorOf(Replaced(text, R"("categories_sizes":[2])", R"("categories_sizes":[3])")),
               "tree 0: categories, categories_nodes, _segments and _sizes"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "[5E-1,NaN,2E0,1E0,3E0]", "[5E-1,NaN,NaN,1E0,3E0]")),
                       "tree 0: leaf 2 holds nan; expected a finite float"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "[5E-1,NaN,2E0,1E0,3E0]", "[5E-1,NaN,2E0,1,3E0]")),
                       "tree 0: 'split_conditions' holds something else than floats"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, R"("num_trees":"1")", R"("num_trees":"2")")),
                       "'trees' has 1 values; expected 2"));
  EXPECT_EQ(ErrorOf(Replaced(text, XgboostTreeText(0, {1, 2, 3}), "null")),
            "XGBoost model, tree 0: not a JSON object");
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, R"("num_class":"0")", R"("num_class":0)")),
                       "learner_model_param: 'num_class' is number; expected string"));
  EXPECT_TRUE(
      Contains(ErrorOf(Replaced(text, R"("num_parallel_tree":"1")", R"("num_parallel_tree":"0")")),
               "gbtree_model_param: num_parallel_tree is 0; allowed: at least 1"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, R"("tree_info":[0])", R"("tree_info":[1])")),
                       "tree_info: 1 for tree 0; expected 0"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, R"("iteration_indptr":[0,1],)", "")),
                       "no 'iteration_indptr'"));
  EXPECT_TRUE(Contains(
      ErrorOf(Replaced(text, R"("iteration_indptr":[0,1],)", R"("iteration_indptr":[0],)")),
      "iteration_indptr does not divide 1 trees"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, "[2147483647,0,0,1,1]", "[2147483647,0,0,5,1]")),
                       "tree 0: node 3 has parent 5; there are 5 nodes"));
  EXPECT_TRUE(
      Contains(ErrorOf(Replaced(text, R"("categories_nodes":[1])", R"("categories_nodes":[0])")),
               "tree 0: 'split_type' does not fit 'categories_nodes'"));
  EXPECT_TRUE(
      Contains(ErrorOf(Replaced(text, R"("id":0)", R"("id":1)")), "tree 0: 'id' is 1; expected 0"));
  EXPECT_TRUE(Contains(ErrorOf(Replaced(text, R"("categories":[)", R"("categories":[16777216,)")),
                       "tree 0: 'categories' holds 16777216; allowed: below 16777216"));
  EXPECT_TRUE(Contains(ErrorOf(text, {.objective = ModelObjective::kMulticlass, .num_scores = 2}),
                       "1 scores (num_class); num_scores is 2"));
  EXPECT_TRUE(Contains(ErrorOf(text, {.offsets = {1e39}}), "is no finite float"));
}

// What a text says of its size is compared with what it holds before anything is made of it.
TEST(XgboostExport, CountsAreNotBelieved) {
  const std::string text = TwoRounds();
  const auto with_counts = [&](const char* classes, const char* parallel) {
    const std::string changed =
        Replaced(text, R"("num_class":"0")", fmt::format(R"("num_class":"{}")", classes));
    return Replaced(changed, R"("num_parallel_tree":"1")",
                    fmt::format(R"("num_parallel_tree":"{}")", parallel));
  };
  // 2^32 times 2^32 is 0 in 64 bits.
  for (const std::string& counts :
       {with_counts("4294967296", "4294967296"), with_counts("0", "18446744073709551615")}) {
    EXPECT_TRUE(Contains(ErrorOf(counts), "iteration_indptr does not divide 2 trees"));
  }
  const std::string without_trees = XgboostModelText({}, {.num_parallel_trees = 1'000'000'000});
  EXPECT_TRUE(Contains(ErrorOf(without_trees), "iteration_indptr does not divide 0 trees"));
}

TEST(XgboostExport, TextsThatAreCutShortAreRefused) {
  const std::string text = TwoRounds();
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_NE(ErrorOf(text.substr(0, size)), "no error") << size;
  }
}

TEST(XgboostExport, DamagedTextsAreRefusedOrExportedWhole) {
  const std::string text = TwoRounds();
  std::mt19937 random(7);
  for (int i = 0; i < 10'000; ++i) {
    std::string damaged = text;
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes) {
      damaged[random() % damaged.size()] = "0123456789-.E,:[]{}\"a"[random() % 21];
    }
    std::string exported;
    try {
      exported = Export({.text = damaged}, {.offsets = {1.0}});
    } catch (const std::invalid_argument&) {
      continue;
    }
    EXPECT_NO_THROW(ParseXgboostModel(exported, "exported")) << damaged;
  }
}

TEST(Ubjson, ValuesAreReadAndWritten) {
  // By hand, after ubjson.org: {"a":[300, -5, 2.5, "x", true, false, null], "b": int16[258, -1]}.
  using namespace std::string_literals;
  const std::string bytes =
      "{U\1a[I\x01\x2Ci\xFB"
      "d\x40\x20\0\0SU\1xTFZ]U\1b[$I#U\2\x01\x02\xFF\xFF}"s;
  EXPECT_TRUE(detail::IsUbjson(bytes));
  const Json json = detail::ParseUbjson(bytes, "bytes");
  EXPECT_EQ(json["a"], Json({300, -5, 2.5, "x", true, false, nullptr}));
  EXPECT_EQ(detail::IntegersIn(json["b"]), (std::vector<std::int64_t>{258, -1}));
  const std::string written = detail::UbjsonBytes(json);
  EXPECT_EQ(detail::ParseUbjson(written, "written"), json);
  EXPECT_EQ(detail::UbjsonBytes(detail::ParseUbjson(written, "written")), written);
}

TEST(Ubjson, ErrorsSayWhere) {
  using namespace std::string_literals;
  const auto error = [](const std::string& bytes) {
    return MessageOf([&] { detail::ParseUbjson(bytes, "bytes"); });
  };
  EXPECT_TRUE(Contains(error("{U\1aQ}"s), "bytes, byte 6: no UBJSON, or cut short: 'Q'"));
  EXPECT_TRUE(Contains(error("[#L\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s), "of at most 0 that fit"));
  EXPECT_TRUE(Contains(error("[$d#i\2\0\0\0\0"s), "length 2, of at most 1 that fit"));
  EXPECT_TRUE(Contains(error("[$Z#i\2"s), "'Z' for an array of numbers"));
  EXPECT_TRUE(Contains(error("Si\xFF"s), "length -1"));
  EXPECT_TRUE(Contains(error("TT"), "there is more behind the end"));
  EXPECT_TRUE(Contains(error(std::string(100'000, '[')), "nested deeper than 32"));
  EXPECT_FALSE(detail::IsUbjson(R"({"learner":{}})"));
}

TEST(XgboostExport, UbjsonIsExportedAsTextIs) {
  const std::string text = TwoRounds();
  const std::string empty = XgboostModelText({});
  for (const std::string& model : {text, empty}) {
    for (const ExportSpec& spec :
         {ExportSpec{}, ExportSpec{.inverse_temperature = 1.0 / 3.0, .offsets = {0.1}},
          ExportSpec{.objective = ModelObjective::kHuber, .offsets = {7.7}}}) {
      const std::string exported = Export({.text = AsUbjson(model), .start = {0.3}}, spec);
      EXPECT_TRUE(detail::IsUbjson(exported));
      EXPECT_EQ(exported, AsUbjson(Export({.text = model, .start = {0.3}}, spec)));
    }
  }
  const std::string bytes = AsUbjson(text);
  const std::vector<ModelPart> mixed = {{.text = text}, {.text = bytes}};
  EXPECT_EQ(MessageOf([&] { ExportXgboost(mixed, {}); }),
            "XGBoost model 2 of 2: JSON beside UBJSON; allowed: the same for all parts");
}

TEST(XgboostExport, DamagedUbjsonIsRefusedOrExportedWhole) {
  const std::string bytes = AsUbjson(TwoRounds());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(ErrorOf(bytes.substr(0, size)), "no error") << size;
  }
  std::mt19937 random(11);
  int refused = 0;
  constexpr int kTries = 10'000;
  for (int i = 0; i < kTries; ++i) {
    std::string damaged = bytes;
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    std::string exported;
    try {
      exported = Export({.text = damaged}, {.offsets = {1.0}});
    } catch (const std::invalid_argument&) {
      ++refused;
      continue;
    }
    EXPECT_NO_THROW(ParseXgboostModel(exported, "exported")) << i;
  }
  EXPECT_GT(refused, kTries / 4);
  EXPECT_LT(refused, kTries);
}

class XgboostExportWithLibrary : public testing::XgboostTest {
 protected:
  // The margin of one row.
  float Predict(const std::string& model, const std::vector<float>& row) const {
    void* booster = nullptr;
    void* matrix = nullptr;
    api().Check(api().BoosterCreate(nullptr, 0, &booster), "creating");
    api().Check(api().BoosterLoadModelFromBuffer(booster, model.data(), model.size()), "loading");
    const std::string data =
        fmt::format(R"({{"data":[{},true],"shape":[1,2],"typestr":"<f4","version":3}})",
                    reinterpret_cast<std::uintptr_t>(row.data()));
    api().Check(api().DMatrixCreateFromDense(data.c_str(), R"({"missing":NaN})", &matrix), "data");
    const char* config =
        R"({"type":1,"training":false,"iteration_begin":0,"iteration_end":0,"strict_shape":false})";
    const std::uint64_t* shape = nullptr;
    std::uint64_t dimensions = 0;
    const float* predicted = nullptr;
    api().Check(
        api().BoosterPredictFromDMatrix(booster, matrix, config, &shape, &dimensions, &predicted),
        "predicting");
    const float margin = *predicted;
    api().DMatrixFree(matrix);
    api().BoosterFree(booster);
    return margin;
  }
};

TEST_F(XgboostExportWithLibrary, LoadsAndPredicts) {
  for (const std::string& trained : {TwoRounds(), AsUbjson(TwoRounds())}) {
    const std::string model =
        Export({.text = trained, .round_weights = {1.0, 0.5}, .start = {0.25}},
               {.inverse_temperature = 2.0, .offsets = {-3.0}});
    // XGBoost sends the categories of a split to the right.
    EXPECT_FLOAT_EQ(Predict(model, {0.0f, 2.0f}), 2.0f * (0.25f + 1.0f - 0.5f) - 3.0f);
    EXPECT_FLOAT_EQ(Predict(model, {0.0f, 3.0f}), 2.0f * (0.25f + 3.0f + 2.0f) - 3.0f);
    EXPECT_FLOAT_EQ(Predict(model, {1.0f, 2.0f}), 2.0f * (0.25f + 2.0f + 0.25f) - 3.0f);
    const std::string constant =
        Export({.text = trained, .round_weights = {0.0, 0.0}}, {.offsets = {-3.0}});
    EXPECT_FLOAT_EQ(Predict(constant, {1.0f, 2.0f}), -3.0f);
  }
}

}  // namespace
}  // namespace bregboost
