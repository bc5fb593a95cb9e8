#include "learners/detail/xgboost_booster.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "error_text.h"
#include "gbm_test_support.h"
#include "generated_data.h"
#include "xgboost_test_support.h"

namespace bregboost::testing {
namespace {

const GbmParameters kParameters = {{"max_depth", "4"}, {"eta", "0.3"}, {"nthread", "1"}};

GbmParameters With(GbmParameters parameters, const GbmParameters& more) {
  for (const auto& [name, value] : more) parameters[name] = value;
  return parameters;
}

struct Case {
  std::string name;
  GeneratedData data;
  GeneratedData held_out;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  cases.push_back({"binary", TwoGroups(2000, 1), TwoGroups(700, 2)});
  cases.push_back({"three classes", ThreeClasses(2100, 3), ThreeClasses(600, 4)});
  cases.push_back({"regression", NoisyLine(2000, 5), NoisyLine(500, 6)});
  return cases;
}

void DrawWeights(RowData& rows) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0.2, 3.0);
  for (std::size_t i = 0; i < rows.num_rows(); ++i) rows.weights.push_back(uniform(random));
}

class XgboostBoosterTest : public XgboostTest {};

TEST_F(XgboostBoosterTest, GrowsTheLibrarysOwnTreesFromTheLibrarysOwnStart) {
  for (const bool weighted : {false, true}) {
    for (Case& problem : Cases()) {
      SCOPED_TRACE(problem.name + (weighted ? ", weighted" : ""));
      RowData& rows = problem.data.rows;
      if (weighted) DrawWeights(rows);
      const auto train = XgboostDataset::FromArray(Features(problem.data), kParameters);
      const auto held_out =
          XgboostDataset::FromArray(Features(problem.held_out), kParameters, &train);
      NativeXgboost native(train, rows, kParameters);
      native.Train(30);

      const auto ours = XgboostDataset::FromArray(Features(problem.data), kParameters);
      const auto booster = MakeBooster(ours, rows, kParameters, {{held_out}});
      ASSERT_EQ(booster->StartingScores().size(), rows.num_scores());
      EXPECT_EQ(TrainBooster(*booster, rows, 30), 30);
      EXPECT_EQ(booster->num_rounds(), 30);
      EXPECT_LE(LargestDifference(Copy(booster->TrainScores()), native.Margins(train)), 2e-6);
      EXPECT_LE(LargestDifference(Copy(booster->HeldOutScores(0)), native.Margins(held_out)), 2e-6);
    }
  }
}

// A first round that cannot split leaves the native model's intercept alone to be read.
TEST_F(XgboostBoosterTest, StartsWhereTheLibraryDoes) {
  for (const bool weighted : {false, true}) {
    for (Case& problem : Cases()) {
      SCOPED_TRACE(problem.name + (weighted ? ", weighted" : ""));
      RowData& rows = problem.data.rows;
      if (weighted) DrawWeights(rows);
      const auto train = XgboostDataset::FromArray(Features(problem.data), kParameters);
      NativeXgboost native(train, rows, With(kParameters, {{"eta", "0"}}));
      native.Train(1);
      const std::vector<float> start = native.Margins(train);
      const auto booster = MakeBooster(train, rows, kParameters);
      EXPECT_LE(LargestDifference(Copy(booster->TrainScores()), start), 5e-7);
      for (std::size_t k = 0; k < rows.num_scores(); ++k) {
        EXPECT_NEAR(booster->StartingScores()[k], static_cast<double>(start[k]), 5e-7);
      }
    }
  }
}

TEST_F(XgboostBoosterTest, HonoursTheUsersBaseScore) {
  const GeneratedData data = TwoGroups(500, 1);
  const auto train = XgboostDataset::FromArray(Features(data), kParameters);
  const auto booster = MakeBooster(train, data.rows, With(kParameters, {{"base_score", "0.2"}}));
  EXPECT_NEAR(booster->StartingScores()[0], std::log(0.25), 1e-6);
  const GeneratedData classes = ThreeClasses(300, 1);
  const auto three = XgboostDataset::FromArray(Features(classes), kParameters);
  EXPECT_EQ(MakeBooster(three, classes.rows, With(kParameters, {{"base_score", "0.25"}}))
                ->StartingScores(),
            (std::vector<double>{0.25, 0.25, 0.25}));
}

TEST_F(XgboostBoosterTest, HeldOutScoresAreThoseOfTheModelInEveryRound) {
  for (const Case& problem : Cases()) {
    SCOPED_TRACE(problem.name);
    const auto train = XgboostDataset::FromArray(Features(problem.data), kParameters);
    const std::vector<XgboostDataset> held_out = {
        XgboostDataset::FromArray(Features(problem.held_out), kParameters, &train), train};
    const auto booster = MakeBooster(train, problem.data.rows, kParameters, held_out);
    for (int round = 0; round < 8; ++round) {
      TrainBooster(*booster, problem.data.rows, 1);
      const std::string model = booster->Serialize();
      for (std::size_t set = 0; set < held_out.size(); ++set) {
        EXPECT_LE(LargestDifference(Copy(booster->HeldOutScores(set)),
                                    NativeXgboost::MarginsOfModel(model, held_out[set])),
                  1e-6);
      }
      EXPECT_LE(LargestDifference(Copy(booster->TrainScores()), Copy(booster->HeldOutScores(1))),
                1e-6);
    }
  }
}

TEST_F(XgboostBoosterTest, GoesBackAndOn) {
  for (const Case& problem : Cases()) {
    SCOPED_TRACE(problem.name);
    const RowData& rows = problem.data.rows;
    const GbmParameters parameters =
        With(kParameters, {{"min_child_weight", "7"}, {"num_parallel_tree", "2"}});
    const auto train = XgboostDataset::FromArray(Features(problem.data), parameters);
    const auto held_out = XgboostDataset::FromArray(Features(problem.held_out), parameters, &train);
    const auto booster = MakeBooster(train, rows, parameters, {{held_out}});
    const std::vector<float> at_start = Copy(booster->TrainScores());
    TrainBooster(*booster, rows, 5);
    const std::vector<float> at_five = Copy(booster->TrainScores());
    const std::vector<float> held_out_at_five = Copy(booster->HeldOutScores(0));
    const std::string model_at_five = booster->Serialize();
    TrainBooster(*booster, rows, 7);
    const std::vector<float> at_twelve = Copy(booster->TrainScores());
    const std::vector<float> held_out_at_twelve = Copy(booster->HeldOutScores(0));
    const std::string model_at_twelve = booster->Serialize();

    booster->RollBackTo(5);
    EXPECT_EQ(booster->num_rounds(), 5);
    EXPECT_EQ(Copy(booster->TrainScores()), at_five);
    EXPECT_EQ(Copy(booster->HeldOutScores(0)), held_out_at_five);
    EXPECT_EQ(booster->Serialize(), model_at_five);
    TrainBooster(*booster, rows, 7);
    EXPECT_EQ(Copy(booster->TrainScores()), at_twelve);
    EXPECT_EQ(Copy(booster->HeldOutScores(0)), held_out_at_twelve);
    EXPECT_EQ(booster->Serialize(), model_at_twelve);

    booster->RollBackTo(0);
    EXPECT_EQ(booster->num_rounds(), 0);
    EXPECT_EQ(Copy(booster->TrainScores()), at_start);
    TrainBooster(*booster, rows, 12);
    EXPECT_EQ(booster->Serialize(), model_at_twelve);
    EXPECT_THROW(booster->RollBackTo(13), std::invalid_argument);
    EXPECT_THROW(booster->RollBackTo(-1), std::invalid_argument);
  }
}

TEST_F(XgboostBoosterTest, ARoundWithoutASplitLeavesTheModelAsItWas) {
  for (const Case& problem : Cases()) {
    for (const int rounds_before : {0, 3}) {
      SCOPED_TRACE(problem.name + " after " + std::to_string(rounds_before));
      const RowData& rows = problem.data.rows;
      const auto train = XgboostDataset::FromArray(Features(problem.data), kParameters);
      const auto held_out =
          XgboostDataset::FromArray(Features(problem.held_out), kParameters, &train);
      const auto booster = MakeBooster(train, rows, kParameters, {{held_out}});
      TrainBooster(*booster, rows, rounds_before);
      const std::vector<float> scores = Copy(booster->TrainScores());
      const std::vector<float> held_out_scores = Copy(booster->HeldOutScores(0));
      const std::string model = booster->Serialize();

      // The same derivatives in every row: no split gains anything, but the leaf is not zero.
      const std::vector<float> gradient(scores.size(), 0.3F);
      const std::vector<float> hessian(scores.size(), 0.2F);
      EXPECT_FALSE(booster->Boost(gradient, hessian));
      // Too light for min_child_weight.
      Derivatives light = XgboostDerivatives(booster->TrainScores(), rows);
      for (float& g : light.gradient) g *= 1e-6F;
      for (float& h : light.hessian) h *= 1e-6F;
      EXPECT_FALSE(booster->Boost(light.gradient, light.hessian));

      EXPECT_EQ(booster->num_rounds(), rounds_before);
      EXPECT_EQ(Copy(booster->TrainScores()), scores);
      EXPECT_EQ(Copy(booster->HeldOutScores(0)), held_out_scores);
      EXPECT_EQ(booster->Serialize(), model);

      // And it goes on as if nothing had been.
      EXPECT_EQ(TrainBooster(*booster, rows, 4), 4);
      const auto other = MakeBooster(train, rows, kParameters, {{held_out}});
      TrainBooster(*other, rows, rounds_before + 4);
      EXPECT_EQ(booster->Serialize(), other->Serialize());
      EXPECT_EQ(Copy(booster->HeldOutScores(0)), Copy(other->HeldOutScores(0)));
    }
  }
}

// The library keeps predictions by thread; rounds that wander must not lose trees.
TEST_F(XgboostBoosterTest, RoundsMayRunOnAnyThread) {
  for (const Case& problem : Cases()) {
    SCOPED_TRACE(problem.name);
    const RowData& rows = problem.data.rows;
    const auto train = XgboostDataset::FromArray(Features(problem.data), kParameters);
    const auto held_out =
        XgboostDataset::FromArray(Features(problem.held_out), kParameters, &train);
    const auto still = MakeBooster(train, rows, kParameters, {{held_out}});
    const auto wandering = MakeBooster(train, rows, kParameters, {{held_out}});
    TrainBooster(*still, rows, 8);
    for (int round = 0; round < 8; ++round) {
      const auto grow = [&] {
        TrainBooster(*wandering, rows, 1);
        wandering->HeldOutScores(0);
      };
      if (round % 3 == 1) {
        std::thread(grow).join();
      } else {
        grow();
      }
    }
    EXPECT_EQ(wandering->Serialize(), still->Serialize());
    EXPECT_EQ(Copy(wandering->TrainScores()), Copy(still->TrainScores()));
    EXPECT_EQ(Copy(wandering->HeldOutScores(0)), Copy(still->HeldOutScores(0)));
  }
}

// The sample that found no split is not drawn for ever.
TEST_F(XgboostBoosterTest, ARoundAfterAnEmptyOneDrawsAnotherSample) {
  const GeneratedData data = TwoGroups(1000, 1);
  for (const char* by_iteration : {"false", "true"}) {
    const GbmParameters parameters =
        With(kParameters, {{"subsample", "0.5"}, {"seed_per_iteration", by_iteration}});
    const auto train = XgboostDataset::FromArray(Features(data), parameters);
    const auto plain = MakeBooster(train, data.rows, parameters);
    TrainBooster(*plain, data.rows, 3);
    const auto booster = MakeBooster(train, data.rows, parameters);
    TrainBooster(*booster, data.rows, 2);
    const std::vector<float> flat(1000, 0.25F);
    EXPECT_FALSE(booster->Boost(flat, flat));
    EXPECT_EQ(TrainBooster(*booster, data.rows, 1), 1);
    EXPECT_GT(LargestDifference(Copy(booster->TrainScores()), Copy(plain->TrainScores())), 1e-4);
  }
}

// Its leaves move the scores by less than a float can tell, yet there is a split.
TEST_F(XgboostBoosterTest, ASplitTooSmallToSeeInTheScoresCounts) {
  const GeneratedData data = NoisyLine(1000, 1);
  const GbmParameters parameters = With(kParameters, {{"eta", "1e-9"}, {"base_score", "10"}});
  const auto train = XgboostDataset::FromArray(Features(data), parameters);
  const auto booster = MakeBooster(train, data.rows, parameters);
  const std::vector<float> before = Copy(booster->TrainScores());
  EXPECT_EQ(TrainBooster(*booster, data.rows, 1), 1);
  EXPECT_EQ(booster->num_rounds(), 1);
  EXPECT_EQ(Copy(booster->TrainScores()), before);
}

TEST_F(XgboostBoosterTest, BaseMarginsReplaceTheStart) {
  for (Case& problem : Cases()) {
    SCOPED_TRACE(problem.name);
    const RowData& rows = problem.data.rows;
    const auto with_margins = [&](const GeneratedData& data, const XgboostDataset* reference) {
      auto dataset = XgboostDataset::FromArray(Features(data), kParameters, reference);
      std::mt19937 random(11);
      std::normal_distribution<double> normal;
      std::vector<double> margins(data.rows.num_rows() * rows.num_scores());
      for (double& margin : margins)
        margin = static_cast<double>(static_cast<float>(normal(random)));
      dataset.SetBaseMargin(margins);
      EXPECT_EQ(dataset.BaseMargin(), margins);
      return dataset;
    };
    const auto train = with_margins(problem.data, nullptr);
    const auto held_out = with_margins(problem.held_out, &train);
    const auto booster = MakeBooster(train, rows, kParameters, {{held_out}});
    EXPECT_EQ(booster->StartingScores(), std::vector<double>(rows.num_scores(), 0.0));
    const std::vector<double> margins = train.BaseMargin();  // class-major
    const std::vector<float> scores = Copy(booster->TrainScores());
    const std::size_t n = rows.num_rows();
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const std::size_t row = i / rows.num_scores();
      ASSERT_EQ(static_cast<double>(scores[i]), margins[(i % rows.num_scores()) * n + row]);
    }
    NativeXgboost native(train, rows, kParameters);
    native.Train(20);
    TrainBooster(*booster, rows, 20);
    EXPECT_LE(LargestDifference(Copy(booster->TrainScores()), native.Margins(train)), 2e-6);
    EXPECT_LE(LargestDifference(Copy(booster->HeldOutScores(0)), native.Margins(held_out)), 2e-6);

    const auto bare = XgboostDataset::FromArray(Features(problem.held_out), kParameters, &train);
    EXPECT_THROW(MakeBooster(train, rows, kParameters, {{bare}}), std::invalid_argument);
  }
}

TEST_F(XgboostBoosterTest, TreeMethodsWithoutBinsWork) {
  const GeneratedData data = TwoGroups(800, 1);
  for (const char* method : {"exact", "approx", "hist", "auto"}) {
    SCOPED_TRACE(method);
    const GbmParameters parameters = With(kParameters, {{"tree_method", method}});
    const auto train = XgboostDataset::FromArray(Features(data), parameters);
    NativeXgboost native(train, data.rows, parameters);
    native.Train(10);
    const auto booster = MakeBooster(train, data.rows, parameters);
    EXPECT_EQ(TrainBooster(*booster, data.rows, 10), 10);
    EXPECT_LE(LargestDifference(Copy(booster->TrainScores()), native.Margins(train)), 2e-6);
  }
}

TEST_F(XgboostBoosterTest, RefusesDatasetsAndDerivativesThatDoNotFit) {
  const GeneratedData data = TwoGroups(300, 1);
  const GeneratedData other = ThreeClasses(300, 1);
  const auto train = XgboostDataset::FromArray(Features(data), kParameters);
  const auto narrow = XgboostDataset::FromArray(Features(other), kParameters);
  EXPECT_THROW(MakeBooster(train, data.rows, kParameters, {{narrow}}), std::invalid_argument);
  const auto booster = MakeBooster(train, data.rows, kParameters);
  const std::vector<float> few(299, 1.0F);
  EXPECT_THROW(booster->Boost(few, few), std::invalid_argument);
}

// What one copy of the library has made, another may not touch.
TEST_F(XgboostBoosterTest, RefusesDatasetsOfAnotherLibrary) {
  const std::filesystem::path copy =
      std::filesystem::temp_directory_path() / fmt::format("bregboost_libxgboost_{}.so", getpid());
  std::filesystem::copy_file(api().path(), copy);
  const GeneratedData data = TwoGroups(100, 1);
  const auto train = XgboostDataset::FromArray(Features(data), kParameters);
  const auto other = XgboostDataset::FromArray(Features(data), kParameters, nullptr, copy.string());
  EXPECT_EQ(ErrorOf([&] { MakeBooster(train, data.rows, kParameters, {{other}}); }),
            fmt::format("library of held-out set 0: {}; allowed: the training set's, {}",
                        std::filesystem::canonical(copy).string(), api().path()));
  std::filesystem::remove(copy);
}

TEST_F(XgboostBoosterTest, AConfigWithoutAStartingScoreIsAnError) {
  const GeneratedData data = TwoGroups(100, 1);
  const auto settings = detail::ReadXgboostParameters(kParameters, Task::kBinary, 1);
  detail::XgboostApi other = api();
  other.BoosterSaveJsonConfig = [](void*, detail::XgboostApi::Unsigned* length, const char** text) {
    *text = "{}";
    *length = 2;
    return 0;
  };
  try {
    detail::EstimateBaseScore(other, settings, detail::SummariseTargets(data.rows));
    ADD_FAILURE() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(),
                 "XGBoost, estimating the starting score: no base_score in its config");
  }
}

}  // namespace
}  // namespace bregboost::testing
