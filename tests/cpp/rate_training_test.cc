// Which iterate a training on rates keeps.
#include "bregboost/solve/rate_training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "bregboost/calibrate/threshold_merit.h"
#include "bregboost/learners/linear_folds.h"
#include "bregboost/problem/parser.h"
#include "error_text.h"
#include "generated_data.h"

namespace bregboost {
namespace {

using testing::GeneratedData;

class RateTraining : public ::testing::Test {
 protected:
  RateTrainingResult Train(const RateTrainingOptions& options) {
    return TrainOnRates(folds_, problem_, problem_, options, {});
  }

  GeneratedData data_ = testing::TwoGroups(600, 5);
  std::vector<Constraint> limits_ = {ParseConstraint("gap(selection_rate, by=group) <= 5%")};
  RateProblem problem_{limits_, ParseObjective("error"), data_.rows};
  Objective objective_{data_.rows, {}};
  RateConstraints constraints_{limits_, data_.rows};
  LinearFolds folds_{
      FeatureMatrix::DenseRowMajor(data_.features, data_.rows.num_rows(), data_.num_features),
      objective_,
      constraints_,
      {.linear = {.l2 = 0.01}, .num_folds = 3}};
};

TEST_F(RateTraining, KeepsTheIterateThatTheJudgeLikesBest) {
  std::vector<std::vector<double>> seen;
  RateTrainingOptions options{.rounds = 20};
  options.judge = [&](std::span<const double> scores) {
    seen.emplace_back(scores.begin(), scores.end());
    return seen.size() == 4 ? -1.0 : 1.0;
  };
  const RateTrainingResult result = Train(options);
  ASSERT_EQ(seen.size(), 16);  // iterates count from a quarter of the rounds on
  EXPECT_EQ(result.steps_kept, 8);
  EXPECT_EQ(result.merit, -1.0);
  EXPECT_EQ(std::vector<double>(folds_.scores().begin(), folds_.scores().end()), seen[3]);
}

// Scores of a linear model are linear in it: those of the mean are the mean of those.
TEST_F(RateTraining, ATailAverageIsTheMeanOfTheLaterHalf) {
  std::vector<std::vector<double>> seen;
  SolveHooks hooks;
  hooks.on_iteration = [&](const IterationStats& /*stats*/) {
    seen.emplace_back(folds_.scores().begin(), folds_.scores().end());
    return true;
  };
  const RateTrainingOptions options{.choice = IterateChoice::kTailAverage, .rounds = 20};
  const RateTrainingResult result = TrainOnRates(folds_, problem_, problem_, options, hooks);
  ASSERT_EQ(seen.size(), 21);
  EXPECT_EQ(result.averaged_from, 11);
  for (std::size_t i = 0; i < folds_.scores().size(); ++i) {
    double mean = 0.0;
    for (std::size_t k = 11; k <= 20; ++k) mean += 0.1 * seen[k][i];
    EXPECT_NEAR(folds_.scores()[i], mean, 1e-9);
  }
}

TEST_F(RateTraining, OffsetsFindNoBetterIterateThanTheOneKept) {
  std::vector<double> merits;
  RateTrainingOptions options{.margin = 0.0, .deploys_mean = false, .rounds = 20};
  options.judge = [&](std::span<const double> scores) {
    merits.push_back(MeritOfBestThreshold(scores, problem_, options.rho));
    return merits.back();
  };
  const RateTrainingResult result = Train(options);
  EXPECT_EQ(result.merit, *std::min_element(merits.begin(), merits.end()));
  EXPECT_EQ(MeritOfBestThreshold(folds_.scores(), problem_, options.rho), result.merit);
  EXPECT_GT(*std::max_element(merits.begin(), merits.end()), result.merit);
}

// Counted row by row: by how much the groups of the mean are further apart than those of single
// models, on the rows that these were trained on.
TEST_F(RateTraining, LimitsAreTightenedByWhatTheMeanOfTheModelsChanges) {
  const std::vector<std::int32_t>& groups = data_.rows.groups.front().codes;
  const auto gap = [&](std::span<const double> scores) {
    std::vector<double> selected(2, 0.0), rows(2, 0.0);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const auto group = static_cast<std::size_t>(groups[i]);
      rows[group] += 1.0;
      if (scores[i] > 0.0) selected[group] += 1.0;
    }
    return selected[1] / rows[1] - selected[0] / rows[0];
  };
  Train({.margin = 0.0, .rounds = 20});
  const std::vector<double> first = folds_.TrainedScores(0), second = folds_.TrainedScores(1);
  std::vector<double> mean;
  for (std::size_t i = 0; i < first.size(); ++i) mean.push_back(0.5 * (first[i] + second[i]));
  const double shift = gap(mean) - 0.5 * (gap(first) + gap(second));
  const double now = gap(folds_.scores());
  const double expected = 0.5 * std::max(0.0, std::abs(now + shift) - std::abs(now));
  ASSERT_LT(expected, 0.0125);  // half of the bound, on two groups
  EXPECT_NEAR(problem_.allowance(0, 0), -expected, 1e-12);
  EXPECT_NEAR(problem_.allowance(0, 1), -expected, 1e-12);
}

TEST_F(RateTraining, NothingIsTightenedForASingleModel) {
  Train({.margin = 0.0, .deploys_mean = false, .rounds = 20});
  EXPECT_EQ(problem_.allowance(0, 0), 0.0);
  EXPECT_EQ(problem_.allowance(0, 1), 0.0);
}

TEST_F(RateTraining, BadOptionsNameTheField) {
  const std::vector<std::pair<RateTrainingOptions, std::string>> cases = {
      {{.rho = -1.0}, "rho: -1; allowed: a finite number, at least 0"},
      {{.dual_rate = 0.0}, "dual_rate: 0; allowed: a finite number above 0"},
      {{.tau = -1.0}, "tau: -1; allowed: a finite number above 0"},
      {{.loss_tau = 0.0}, "loss_tau: 0; allowed: a finite number above 0"},
      {{.warm_up = 1.0}, "warm_up: 1; allowed: at least 0 and below 1"},
      {{.choose_from = -0.1}, "choose_from: -0.1; allowed: at least 0 and below 1"},
      {{.margin = -0.5}, "margin: -0.5; allowed: a finite number, at least 0"},
      {{.rounds = -1}, "rounds: -1; allowed: at least 0"},
  };
  for (const auto& [options, message] : cases) {
    EXPECT_EQ(testing::ErrorOf([&, &bad = options] { Train(bad); }), message);
  }
}

// A multiplier moves on unseen rows and counts on training rows.
TEST_F(RateTraining, BothSidesHaveTheSameLimits) {
  const RateProblem other({limits_[0], ParseConstraint("fnr <= 20%")}, ParseObjective("error"),
                          data_.rows);
  EXPECT_EQ(testing::ErrorOf([&] { TrainOnRates(folds_, problem_, other, {.rounds = 20}); }),
            "training rows: 3 limits, unseen rows: 2; allowed: the same groups in both");
}

}  // namespace
}  // namespace bregboost
