// Which iterate a plain training keeps.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "boosted_kits.h"
#include "bregboost/calibrate/temperature.h"
#include "bregboost/learners/linear_folds.h"
#include "bregboost/learners/lockstep.h"
#include "bregboost/problem/parser.h"
#include "bregboost/solve/rate_training.h"

namespace bregboost {
namespace {

using testing::GeneratedData;
using testing::LargestDifference;
using testing::LightGbmKit;
using testing::MakeDataset;
using testing::Scores;
using testing::XgboostKit;

constexpr std::int64_t kRounds = 30;

template <class Kit>
class PlainTraining : public testing::GbmTest<typename Kit::Api> {
 protected:
  std::unique_ptr<LockstepLearner> Folds(std::int64_t early_stopping_rounds = 0) {
    const BoostedOptions boosting{.parameters = Kit::Parameters(),
                                  .early_stopping_rounds = early_stopping_rounds};
    return Kit::Lockstep(MakeDataset<Kit>(data_, Kit::Parameters()), objective_, problem_.rates(),
                         {.boosting = boosting, .num_folds = 3});
  }

  // Likes the look number `liked` best, the first being 0.
  auto Liking(std::size_t liked) {
    return [this, liked](std::span<const double> scores) {
      looks_.emplace_back(scores.begin(), scores.end());
      return looks_.size() == liked + 1 ? -1.0 : 1.0;
    };
  }

  GeneratedData data_ = testing::TwoGroups(300, 5);
  Objective objective_{data_.rows, {}};
  RateProblem problem_{{ParseConstraint("fnr <= 20%")}, ParseObjective("error"), data_.rows};
  std::vector<Scores> looks_;
};
using Kits = ::testing::Types<LightGbmKit, XgboostKit>;
TYPED_TEST_SUITE(PlainTraining, Kits);

TYPED_TEST(PlainTraining, KeepsTheTenthOfTheRoundsThatTheJudgeLikesBest) {
  for (const std::size_t liked : {0UL, 3UL, 9UL}) {
    this->looks_.clear();
    const auto folds = this->Folds();
    RateTrainingOptions options{.rounds = kRounds};
    options.judge = this->Liking(liked);
    const RateTrainingResult result = TrainPlain(*folds, this->problem_, options);
    ASSERT_EQ(this->looks_.size(), 10);
    const auto kept = static_cast<std::int64_t>(3 * (liked + 1));
    EXPECT_EQ(result.steps_kept, kept);
    EXPECT_EQ(result.rounds_kept, kept);
    EXPECT_EQ(result.history.size(), kRounds + 1);
    EXPECT_LE(LargestDifference(folds->scores(), this->looks_[liked]), TypeParam::kTolerance);
  }
}

// Of iterates that are alike the first is kept; the rounds between looks do not count, but the
// last.
TYPED_TEST(PlainTraining, TheLastRoundIsJudgedToo) {
  const auto folds = this->Folds();
  RateTrainingOptions options{.rounds = kRounds + 1};
  options.judge = this->Liking(10);
  EXPECT_EQ(TrainPlain(*folds, this->problem_, options).rounds_kept, kRounds + 1);
  EXPECT_EQ(this->looks_.size(), 11);
}

TYPED_TEST(PlainTraining, AnInterruptedOneKeepsTheBestOfWhatWasMade) {
  const auto folds = this->Folds();
  RateTrainingOptions options{.rounds = kRounds};
  options.judge = this->Liking(1);
  SolveHooks hooks;
  hooks.on_iteration = [](const IterationStats& stats) { return stats.k < 11; };
  const RateTrainingResult result = TrainPlain(*folds, this->problem_, options, hooks);
  EXPECT_EQ(result.reason, TerminationReason::kInterrupted);
  EXPECT_EQ(this->looks_.size(), 4);  // after 3, 6, 9 and 11 rounds
  EXPECT_EQ(result.rounds_kept, 6);
}

TYPED_TEST(PlainTraining, WithoutAJudgeAllRoundsAreKept) {
  const auto folds = this->Folds();
  const RateTrainingResult result = TrainPlain(*folds, this->problem_, {.rounds = kRounds});
  EXPECT_EQ(result.steps_kept, kRounds);
  EXPECT_EQ(result.rounds_kept, kRounds);
}

// Whoever asks the library for early stopping gets the library's rule.
TYPED_TEST(PlainTraining, EarlyStoppingGoesBeforeTheJudge) {
  const auto alone = this->Folds(4), judged = this->Folds(4);
  RateTrainingOptions options{.rounds = 500};
  const RateTrainingResult expected = TrainPlain(*alone, this->problem_, options);
  ASSERT_EQ(expected.reason, TerminationReason::kEarlyStopped);
  options.judge = this->Liking(0);
  const RateTrainingResult result = TrainPlain(*judged, this->problem_, options);
  EXPECT_TRUE(this->looks_.empty());
  EXPECT_EQ(result.rounds_kept, expected.rounds_kept);
}

// Labels are noisy and rows few: the more rounds, the worse on unseen rows, and the surer.
TYPED_TEST(PlainTraining, RoundsThatLearnNoiseAreNotKept) {
  const auto folds = this->Folds();
  RateTrainingOptions options{.rounds = 200};
  std::vector<double> losses;
  options.judge = [&](std::span<const double> scores) {
    losses.push_back(RefinementLoss(scores, this->data_.rows));
    return losses.back();
  };
  const RateTrainingResult result = TrainPlain(*folds, this->problem_, options);
  EXPECT_LT(result.rounds_kept, 200);
  EXPECT_NEAR(RefinementLoss(folds->scores(), this->data_.rows),
              *std::min_element(losses.begin(), losses.end()), 1e-6);
}

// One step is the optimum; there is nothing to choose from.
TEST(PlainTrainingOfLinearModels, IsNotJudged) {
  const GeneratedData data = testing::TwoGroups(300, 5);
  const Objective objective(data.rows, {});
  const RateProblem problem({ParseConstraint("fnr <= 20%")}, ParseObjective("error"), data.rows);
  LinearFolds folds(
      FeatureMatrix::DenseRowMajor(data.features, data.rows.num_rows(), data.num_features),
      objective, problem.rates(), {.linear = {.l2 = 0.01}, .num_folds = 3});
  RateTrainingOptions options;
  options.judge = [](std::span<const double> /*scores*/) -> double {
    ADD_FAILURE() << "judged";
    return 0.0;
  };
  EXPECT_EQ(TrainPlain(folds, problem, options).reason, TerminationReason::kConverged);
}

}  // namespace
}  // namespace bregboost
