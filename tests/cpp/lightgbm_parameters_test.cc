#include "learners/detail/lightgbm_parameters.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace bregboost::detail {
namespace {

LightGbmSettings Read(const GbmParameters& parameters, Task task = Task::kBinary) {
  const std::size_t scores = task == Task::kMulticlass ? 3 : 1;
  const LossKind loss = task == Task::kRegression ? LossKind::kSquared : LossKind::kCrossEntropy;
  return ReadLightGbmParameters(parameters, task, scores, loss);
}

std::string ErrorOf(const GbmParameters& parameters, Task task = Task::kBinary) {
  try {
    Read(parameters, task);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
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
    EXPECT_NE(settings.text.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(settings.text.find("n_estimators"), std::string::npos);
  EXPECT_EQ(Read({{"verbose", "1"}}).text.find("verbosity"), std::string::npos);
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

}  // namespace
}  // namespace bregboost::detail
