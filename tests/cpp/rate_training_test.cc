// Which iterate a training on rates keeps.
#include "bregboost/solve/rate_training.h"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST_F(RateTraining, OffsetsFindNoBetterIterateThanTheOneKept) {
  std::vector<double> merits;
  RateTrainingOptions options{.margin = 0.0, .rounds = 20};
  options.judge = [&](std::span<const double> scores) {
    merits.push_back(MeritOfBestThreshold(scores, problem_, options.rho));
    return merits.back();
  };
  const RateTrainingResult result = Train(options);
  EXPECT_EQ(result.merit, *std::min_element(merits.begin(), merits.end()));
  EXPECT_EQ(MeritOfBestThreshold(folds_.scores(), problem_, options.rho), result.merit);
  EXPECT_GT(*std::max_element(merits.begin(), merits.end()), result.merit);
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
