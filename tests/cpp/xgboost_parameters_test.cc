#include "learners/detail/xgboost_parameters.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "gbm_test_support.h"
#include "generated_data.h"
#include "xgboost_test_support.h"

namespace bregboost::testing {
namespace {

using detail::ReadXgboostBinning;
using detail::ReadXgboostParameters;

template <class Action>
std::string RefusalOf(const Action& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

std::string Refusal(const GbmParameters& parameters, Task task = Task::kBinary) {
  return RefusalOf(
      [&] { ReadXgboostParameters(parameters, task, task == Task::kMulticlass ? 3 : 1); });
}

TEST(XgboostParameters, ObjectivesThatFitPassAndOthersAreRefused) {
  const auto objective = [](Task task, const GbmParameters& parameters) {
    return ReadXgboostParameters(parameters, task, task == Task::kMulticlass ? 3 : 1)
        .parameters.at("objective");
  };
  EXPECT_EQ(objective(Task::kBinary, {}), "binary:logistic");
  EXPECT_EQ(objective(Task::kMulticlass, {}), "multi:softprob");
  EXPECT_EQ(objective(Task::kMulticlass, {{"objective", "multi:softmax"}}), "multi:softmax");
  EXPECT_EQ(objective(Task::kRegression, {}), "reg:squarederror");
  EXPECT_TRUE(Refusal({{"objective", "reg:logistic"}})
                  .starts_with("objective: reg:logistic; allowed with two classes: "
                               "binary:logistic"));
  EXPECT_TRUE(Refusal({{"objective", "binary:logistic"}}, Task::kMulticlass)
                  .starts_with("objective: binary:logistic; allowed with more than two classes: "));
  EXPECT_TRUE(Refusal({{"objective", "reg:pseudohubererror"}}, Task::kRegression)
                  .starts_with("objective: reg:pseudohubererror; allowed with a numeric target: "
                               "reg:squarederror"));
}

TEST(XgboostParameters, WhatAPlainModelCannotCarryIsRefusedWithTheReason) {
  const std::vector<GbmParameters> refused = {{{"booster", "dart"}},
                                              {{"booster", "gblinear"}},
                                              {{"multi_strategy", "multi_output_tree"}},
                                              {{"process_type", "update"}},
                                              {{"updater", "refresh"}},
                                              {{"updater", "prune,refresh"}},
                                              {{"scale_pos_weight", "3"}},
                                              {{"num_class", "2"}}};
  for (const GbmParameters& parameters : refused) {
    const auto& [name, value] = *parameters.begin();
    const std::string refusal = Refusal(parameters);
    EXPECT_TRUE(refusal.starts_with(fmt::format("{}: {}; allowed", name, value))) << refusal;
  }
  EXPECT_EQ(Refusal({{"num_class", "4"}}, Task::kMulticlass),
            "num_class: 4; allowed with these labels: 3");
  EXPECT_EQ(Refusal({{"booster", "gbtree"},
                     {"multi_strategy", "one_output_per_tree"},
                     {"process_type", "default"},
                     {"updater", "grow_quantile_histmaker,prune"},
                     {"scale_pos_weight", "1.0"},
                     {"max_delta_step", "1"},
                     {"num_parallel_tree", "3"},
                     {"num_class", "1"}}),
            "");
  EXPECT_NE(Refusal({{"eta", "0.1"}, {"learning_rate", "0.2"}}), "");
  EXPECT_EQ(Refusal({{"eta", "fast"}}), "eta: 'fast'; allowed: a number");
}

TEST(XgboostParameters, RoundsAreTakenOutAndTheRestPassesUntouched) {
  const auto settings = ReadXgboostParameters({{"n_estimators", "70"},
                                               {"early_stopping_rounds", "5"},
                                               {"n_jobs", "2"},
                                               {"eta", "0.05"},
                                               {"subsample", "0.50"},
                                               {"monotone_constraints", "(1, 0)"}},
                                              Task::kMulticlass, 3);
  EXPECT_EQ(settings.num_rounds, 70);
  EXPECT_EQ(settings.early_stopping_rounds, 5);
  EXPECT_EQ(settings.num_threads, 2);
  EXPECT_EQ(settings.learning_rate, 0.05);
  EXPECT_TRUE(settings.samples);
  EXPECT_EQ(settings.parameters, (GbmParameters{{"n_jobs", "2"},
                                                {"eta", "0.05"},
                                                {"subsample", "0.50"},
                                                {"monotone_constraints", "(1, 0)"},
                                                {"objective", "multi:softprob"},
                                                {"num_class", "3"}}));
  EXPECT_EQ(settings.stall_hint, "min_child_weight = 1, gamma = 0, max_depth = 6, reg_lambda = 1");
  EXPECT_EQ(ReadXgboostParameters({{"min_split_loss", "2"}, {"lambda", "0.5"}, {"max_depth", "3"}},
                                  Task::kBinary, 1)
                .stall_hint,
            "min_child_weight = 1, gamma = 2, max_depth = 3, reg_lambda = 0.5");
  EXPECT_EQ(ReadXgboostParameters({}, Task::kBinary, 1).num_rounds, std::nullopt);
}

TEST(XgboostParameters, EarlyStoppingOfNoRoundsIsOff) {
  for (const char* rounds : {"0", "-3"}) {
    EXPECT_EQ(ReadXgboostParameters({{"early_stopping_rounds", rounds}}, Task::kBinary, 1)
                  .early_stopping_rounds,
              0);
  }
}

TEST(XgboostParameters, TreesWithoutBinsReadPlainFeatures) {
  EXPECT_TRUE(ReadXgboostBinning({}).has_bins);
  EXPECT_TRUE(ReadXgboostBinning({{"tree_method", "hist"}}).has_bins);
  EXPECT_FALSE(ReadXgboostBinning({{"tree_method", "exact"}}).has_bins);
  EXPECT_FALSE(ReadXgboostBinning({{"tree_method", "approx"}}).has_bins);
  EXPECT_FALSE(ReadXgboostBinning({{"updater", "grow_colmaker,prune"}}).has_bins);
  EXPECT_TRUE(ReadXgboostBinning({{"updater", "grow_quantile_histmaker"}}).has_bins);
  EXPECT_EQ(ReadXgboostBinning({{"max_bin", "32"}}).max_bin, 32);
}

class XgboostNames : public XgboostTest {
 protected:
  XgboostNames() : data_(TwoGroups(200, 1)) {}

  std::string BoosterRefusal(const GbmParameters& parameters) {
    return RefusalOf([&] {
      const auto train = XgboostDataset::FromArray(Features(data_), parameters);
      const auto booster = MakeBooster(train, data_.rows, parameters);
      TrainBooster(*booster, data_.rows, 2);
    });
  }

 private:
  GeneratedData data_;
};

TEST_F(XgboostNames, AMistypedParameterIsAnError) {
  EXPECT_EQ(BoosterRefusal({{"max_dpeth", "3"}}),
            "parameters: 'max_dpeth'; allowed: what this XGBoost knows, such as max_depth "
            "(validate_parameters=false lets others pass)");
  EXPECT_EQ(BoosterRefusal({{"max_dpeth", "3"}, {"validate_parameters", "false"}}), "");
}

TEST_F(XgboostNames, AValueThatTheLibraryRefusesIsAnErrorThatNamesIt) {
  for (const auto& [name, value] : GbmParameters{{"max_depth", "deep"},
                                                 {"tree_method", "quick"},
                                                 {"learning_rate", "-1"},
                                                 {"subsample", "1.5"},
                                                 {"base_score", "1.5"}}) {
    SCOPED_TRACE(name);
    const std::string refusal = BoosterRefusal({{name, value}});
    EXPECT_TRUE(refusal.starts_with("parameters: ")) << refusal;
    EXPECT_EQ(refusal.find("Stack trace"), std::string::npos) << refusal;
  }
}

TEST_F(XgboostNames, EveryNameOfAParameterIsKnown) {
  EXPECT_EQ(BoosterRefusal({{"eta", "0.1"},
                            {"gamma", "0.1"},
                            {"lambda", "2"},
                            {"alpha", "0.1"},
                            {"n_jobs", "1"},
                            {"random_state", "3"},
                            {"seed_per_iteration", "true"},
                            {"max_leaves", "8"},
                            {"grow_policy", "lossguide"},
                            {"subsample", "0.9"},
                            {"sampling_method", "uniform"},
                            {"colsample_bytree", "0.9"},
                            {"colsample_bylevel", "0.9"},
                            {"colsample_bynode", "0.9"},
                            {"min_child_weight", "0.5"},
                            {"max_delta_step", "0.7"},
                            {"max_bin", "100"},
                            {"max_cat_to_onehot", "3"},
                            {"max_cat_threshold", "30"},
                            {"max_cached_hist_node", "1000"},
                            {"monotone_constraints", "(1,0,0,-1)"},
                            {"interaction_constraints", "[[0,1],[2,3]]"},
                            {"num_parallel_tree", "2"},
                            {"scale_pos_weight", "1"},
                            {"device", "cpu"},
                            {"tree_method", "hist"},
                            {"booster", "gbtree"},
                            {"verbosity", "1"},
                            {"eval_metric", "auc"},
                            {"disable_default_eval_metric", "true"},
                            {"base_score", "0.4"},
                            {"num_boost_round", "10"}}),
            "");
  EXPECT_EQ(BoosterRefusal({{"reg_lambda", "2"},
                            {"reg_alpha", "0.1"},
                            {"min_split_loss", "0.1"},
                            {"learning_rate", "0.2"},
                            {"nthread", "1"},
                            {"seed", "4"},
                            {"refresh_leaf", "1"}}),
            "");
}

}  // namespace
}  // namespace bregboost::testing
