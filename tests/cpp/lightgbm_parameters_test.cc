#include "learners/detail/lightgbm_parameters.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

#include "bregboost/learners/boosted.h"
#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/problem/objective.h"
#include "gbm_test_support.h"
#include "generated_data.h"
#include "learners/detail/lightgbm_api.h"
#include "xgboost_test_support.h"

namespace bregboost::detail {
namespace {

LightGbmSettings Read(const GbmParameters& parameters, Task task = Task::kBinary) {
  const std::size_t scores = task == Task::kMulticlass ? 3 : 1;
  const LossKind loss = task == Task::kRegression ? LossKind::kSquared : LossKind::kCrossEntropy;
  return ReadLightGbmParameters(parameters, task, scores, {.kind = loss});
}

template <class Action>
std::string ErrorFrom(const Action& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

std::string ErrorOf(const GbmParameters& parameters, Task task = Task::kBinary) {
  return ErrorFrom([&] { Read(parameters, task); });
}

TEST(LightGbmParameters, PassThroughUntouched) {
  const LightGbmSettings settings = Read({{"num_leaves", "15"},
                                          {"monotone_constraints", "1,0,-1"},
                                          {"n_estimators", "250"},
                                          {"early_stopping_round", "10"},
                                          {"n_jobs", "3"},
                                          {"eta", "0.05"}});
  EXPECT_EQ(settings.num_rounds, 250);
  EXPECT_EQ(settings.early_stopping_rounds, 10);
  EXPECT_EQ(settings.num_threads, 3);
  EXPECT_EQ(settings.learning_rate, 0.05);
  EXPECT_TRUE(settings.boost_from_average);
  EXPECT_FALSE(settings.samples);
  for (const char* part : {"num_leaves=15", "monotone_constraints=1,0,-1", "n_jobs=3", "eta=0.05",
                           "objective=custom", "num_class=1", "verbosity=-1"}) {
    EXPECT_NE(settings.Text().find(part), std::string::npos) << part;
  }
  EXPECT_EQ(settings.Text().find("n_estimators"), std::string::npos);
  EXPECT_EQ(Read({{"verbose", "1"}}).Text().find("verbosity"), std::string::npos);
}

TEST(LightGbmParameters, ValuesAreReadInAnyCase) {
  EXPECT_EQ(ErrorOf({{"objective", "Binary"}}), "");
  EXPECT_EQ(ErrorOf({{"objective", "MultiClass"}}, Task::kMulticlass), "");
  EXPECT_EQ(ErrorOf({{"objective", "RMSE"}}, Task::kRegression), "");
  EXPECT_NE(ErrorOf({{"boosting", "DART"}}).find("boosting: DART; allowed"), std::string::npos);
  EXPECT_NE(ErrorOf({{"boosting", "Rf"}}).find("boosting: Rf; allowed"), std::string::npos);
  EXPECT_TRUE(Read({{"boosting", "GOSS"}}).samples);
  EXPECT_TRUE(Read({{"data_sample_strategy", "Goss"}}).samples);
}

TEST(LightGbmParameters, WhatOwnDerivativesWouldPassOverIsRefused) {
  for (const GbmParameters& parameters :
       {GbmParameters{{"pos_bagging_fraction", "0.5"}}, GbmParameters{{"neg_subsample", "0.9"}},
        GbmParameters{{"reg_sqrt", "true"}}, GbmParameters{{"early_stopping_min_delta", "0.1"}}}) {
    const auto& [name, value] = *parameters.begin();
    const std::string error = ErrorOf(parameters);
    EXPECT_TRUE(error.starts_with(name + ": " + value + "; allowed: ")) << error;
  }
  EXPECT_EQ(ErrorOf({{"pos_bagging", "1.0"},
                     {"neg_bagging_fraction", "1"},
                     {"reg_sqrt", "false"},
                     {"early_stopping_min_delta", "0.0"},
                     {"alpha", "0.3"}}),
            "");
}

TEST(LightGbmParameters, HubersAlphaIsTheObjectivesDelta) {
  const auto error = [](const char* alpha) {
    return ErrorFrom([&] {
      ReadLightGbmParameters({{"alpha", alpha}}, Task::kRegression, 1,
                             {.kind = LossKind::kHuber, .huber_delta = 1.5});
    });
  };
  EXPECT_EQ(error("1.5"), "");
  EXPECT_TRUE(error("0.9").starts_with("alpha: 0.9; allowed: 1.5 (")) << error("0.9");
}

TEST(LightGbmParameters, EarlyStoppingOfNoRoundsIsOff) {
  EXPECT_EQ(Read({{"early_stopping_round", "0"}}).early_stopping_rounds, 0);
  EXPECT_EQ(Read({{"early_stopping_rounds", "-1"}}).early_stopping_rounds, 0);
}

// The seed `name` of a text.
std::string SeedIn(const std::string& text, const std::string& name) {
  const std::size_t begin = text.find(name + "=") + name.size() + 1;
  return text.substr(begin, text.find(' ', begin) - begin);
}

TEST(LightGbmParameters, EveryDrawHasItsSeeds) {
  for (const GbmParameters& parameters :
       {GbmParameters{}, GbmParameters{{"seed", "2147483647"}},
        GbmParameters{{"bagging_fraction_seed", "5"}, {"extra_seed", "7"}}}) {
    const LightGbmSettings settings = Read(parameters);
    for (const char* name : {"bagging_seed", "feature_fraction_seed", "extra_seed"}) {
      std::set<std::string> seeds;
      for (int draw = 1; draw <= 10; ++draw) {
        const std::string text = settings.Text(draw);
        EXPECT_EQ(text.find("bagging_fraction_seed"), std::string::npos);
        seeds.insert(SeedIn(text, name));
      }
      EXPECT_EQ(seeds.size(), 10U) << name;
    }
  }
  EXPECT_EQ(Read({{"feature_fraction", "0.5"}}).Text().find("seed"), std::string::npos);
  EXPECT_EQ(SeedIn(Read({{"extra_seed", "7"}, {"seed", "9"}}).Text(1), "extra_seed"), "104736");
  EXPECT_EQ(SeedIn(Read({{"extra_seed", "7"}, {"seed", "9"}}).Text(1), "bagging_seed"), "104738");
  EXPECT_EQ(SeedIn(Read({}).Text(1), "feature_fraction_seed"), "104731");
}

TEST(LightGbmParameters, AnObjectiveIsHonouredOrRefusedWithAReason) {
  EXPECT_EQ(ErrorOf({{"objective", "binary"}}), "");
  EXPECT_EQ(ErrorOf({{"application", "multiclass"}}, Task::kMulticlass), "");
  EXPECT_EQ(ErrorOf({{"objective", "softmax"}, {"num_class", "3"}}, Task::kMulticlass), "");
  EXPECT_EQ(ErrorOf({{"objective", "l2"}}, Task::kRegression), "");
  EXPECT_NE(ErrorOf({{"objective", "regression"}}).find("objective: regression; allowed"),
            std::string::npos);
  EXPECT_NE(ErrorOf({{"objective", "multiclassova"}}, Task::kMulticlass).find("softmax"),
            std::string::npos);
  EXPECT_NE(ErrorOf({{"objective", "quantile"}}, Task::kRegression).find("allowed"),
            std::string::npos);
  EXPECT_NE(ErrorOf({{"num_classes", "4"}}, Task::kMulticlass).find("num_classes: 4"),
            std::string::npos);
}

TEST(LightGbmParameters, WhatAPlainModelCannotCarryIsRefused) {
  for (const GbmParameters& parameters :
       {GbmParameters{{"boosting", "dart"}}, GbmParameters{{"boosting_type", "rf"}},
        GbmParameters{{"linear_tree", "true"}}, GbmParameters{{"linear_trees", "+"}},
        GbmParameters{{"is_unbalance", "True"}}, GbmParameters{{"scale_pos_weight", "3"}},
        GbmParameters{{"sigmoid", "2.0"}}}) {
    const std::string error = ErrorOf(parameters);
    EXPECT_NE(error.find(parameters.begin()->first), std::string::npos) << error;
    EXPECT_NE(error.find("allowed"), std::string::npos) << error;
  }
  EXPECT_EQ(ErrorOf({{"linear_tree", "false"}, {"scale_pos_weight", "1.0"}, {"boosting", "goss"}}),
            "");
}

TEST(LightGbmParameters, BadTextIsRefused) {
  EXPECT_NE(ErrorOf({{"num_iterations", "many"}}).find("num_iterations: 'many'"),
            std::string::npos);
  EXPECT_NE(ErrorOf({{"num_leaves", "3 1"}}).find("white space"), std::string::npos);
  EXPECT_NE(ErrorOf({{"num_trees", "5"}, {"n_estimators", "6"}}).find("other name"),
            std::string::npos);
  EXPECT_NE(ErrorOf({{"linear_tree", "perhaps"}}).find("true or false"), std::string::npos);
}

TEST(LightGbmParameters, SamplingIsSeen) {
  EXPECT_TRUE(Read({{"subsample", "0.8"}}).samples);
  EXPECT_TRUE(Read({{"feature_fraction", "0.5"}}).samples);
  EXPECT_TRUE(Read({{"data_sample_strategy", "goss"}}).samples);
  EXPECT_TRUE(Read({{"extra_trees", "true"}}).samples);
  EXPECT_FALSE(Read({{"subsample", "1.0"}}).samples);
}

TEST(LightGbmParameters, AFoldHasOneThreadAndDoesNotStopByItself) {
  const GbmParameters fold =
      LightGbmFoldParameters({{"nthread", "8"}, {"early_stopping", "5"}, {"num_leaves", "9"}});
  EXPECT_EQ(fold, (GbmParameters{{"num_threads", "1"}, {"num_leaves", "9"}}));
}

using LightGbmNames = testing::LightGbmTest;

TEST_F(LightGbmNames, AMistypedParameterIsAnError) {
  const testing::GeneratedData data = testing::TwoGroups(200, 1);
  const Objective objective(data.rows, {});
  const GbmParameters mistyped = {{"num_leafs", "7"}};
  const std::string from_data =
      ErrorFrom([&] { LightGbmDataset::FromArray(testing::Features(data), mistyped); });
  EXPECT_TRUE(from_data.starts_with(
      "parameters: 'num_leafs'; allowed: what this LightGBM knows, such as num_leaf"))
      << from_data;
  const auto train = LightGbmDataset::FromArray(testing::Features(data), {});
  EXPECT_EQ(
      ErrorFrom([&] { BoostedLearner::LightGbm(train, objective, {.parameters = mistyped}); }),
      from_data);
}

TEST_F(LightGbmNames, EveryNameOfAParameterIsKnown) {
  const auto api = LightGbmApi::Load();
  // With aliases, without, taken out by us, and an argument of Python's functions.
  for (const char* name : {"num_leaves",
                           "max_leaf_nodes",
                           "boost_from_average",
                           "sigmoid",
                           "alpha",
                           "extra_seed",
                           "feature_fraction_seed",
                           "path_smooth",
                           "cat_smooth",
                           "max_bin_by_feature",
                           "top_rate",
                           "device_type",
                           "monotone_constraints",
                           "interaction_constraints",
                           "deterministic",
                           "force_col_wise",
                           "num_iterations",
                           "max_iter",
                           "n_estimators",
                           "num_boost_round",
                           "n_iter_no_change",
                           "objective",
                           "loss",
                           "num_classes",
                           "random_state",
                           "n_jobs",
                           "metric",
                           "categorical_feature",
                           "verbose"}) {
    EXPECT_EQ(ErrorFrom([&] { CheckLightGbmNames({{name, "1"}}, *api); }), "");
  }
}

}  // namespace
}  // namespace bregboost::detail
