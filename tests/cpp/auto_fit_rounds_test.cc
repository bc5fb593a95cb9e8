// How many rounds a fit trains and keeps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tuple>

#include "auto_fit_kit.h"

namespace bregboost {
namespace {

using namespace testing;  // NOLINT: the kits

template <class Kit>
class AutoFitRounds : public AutoFitTest<Kit> {};
using Kits = ::testing::Types<LightGbmKit, XgboostKit>;
TYPED_TEST_SUITE(AutoFitRounds, Kits);

// Early stopping is settled by unseen rows; certification rows have no part in it.
TYPED_TEST(AutoFitRounds, RefitsTakeTheRoundsThatTheFoldsKept) {
  const GeneratedData data = TwoGroups(1500, 20);
  const auto fit = [&](Deploy deploy, double certify) {
    GbmParameters parameters = this->Parameters(200);
    parameters.emplace("early_stopping_rounds", "5");
    parameters.emplace(std::is_same_v<TypeParam, LightGbmKit> ? "learning_rate" : "eta", "0.3");
    this->datasets_.push_back(TypeParam::Dataset::FromArray(
        FeatureArray::RowMajor(std::span<const double>(data.features), 1500, data.num_features),
        parameters));
    FitOptions options;
    options.deploy = deploy;
    options.certify = certify;
    const BoostedOptions boosting{.parameters = parameters, .rounds_per_step = 2};
    const std::vector<Constraint> limits = this->Parse({"fnr <= 20%"});
    if constexpr (std::is_same_v<TypeParam, LightGbmKit>) {
      return AutoFit::LightGbm({.training = {this->datasets_.back(), data.rows}}, limits, boosting,
                               options);
    } else {
      return AutoFit::Xgboost({.training = {this->datasets_.back(), data.rows}}, limits, boosting,
                              options);
    }
  };
  for (const double certify : {0.0, 0.2}) {
    const AutoFit mean = fit(Deploy::kFoldMean, certify);
    const AutoFit refit = fit(Deploy::kRefit, certify);
    const std::int64_t rounds = mean.report().unseen.training.rounds_kept;
    EXPECT_EQ(mean.report().unseen.training.reason, TerminationReason::kEarlyStopped);
    EXPECT_LT(rounds, 100);
    EXPECT_EQ(refit.report().unseen.training.rounds_kept, rounds);
    EXPECT_EQ(TypeParam::NumRounds(refit.Model()), rounds);
    EXPECT_EQ(TypeParam::NumRounds(mean.Model()), 5 * rounds);
  }
}

// Rows are few and labels noisy, so that most of 200 rounds learn noise.
TYPED_TEST(AutoFitRounds, OnlyRoundsThatUnseenRowsGainByAreKept) {
  const GeneratedData data = TwoGroups(1500, 25);
  constexpr int kRounds = 200;
  const auto rounds_kept = [&](const std::vector<std::string>& limits, const FitOptions& options) {
    const AutoFit fit = this->Fit(data, limits, options, kRounds);
    const RateTrainingResult& training = fit.report().unseen.training;
    const int models = options.deploy == Deploy::kRefit ? 1 : 5;
    EXPECT_EQ(training.history.back().evaluations, kRounds);
    EXPECT_EQ(TypeParam::NumRounds(fit.Model()), models * training.rounds_kept);
    return training.rounds_kept;
  };
  FitOptions options;
  options.validation = Validation::kFolds;
  const std::int64_t kept = rounds_kept({"fnr <= 20%"}, options);
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, kRounds / 2);
  EXPECT_EQ(rounds_kept({"fpr <= 5%"}, options), kept);  // whatever the limit
  EXPECT_EQ(rounds_kept({}, options), kRounds);          // as the library alone
  options.deploy = Deploy::kRefit;
  EXPECT_EQ(rounds_kept({"fnr <= 20%"}, options), kept);
  options.deploy = Deploy::kFoldMean;
  options.solver.all_rounds = true;
  EXPECT_EQ(rounds_kept({"fnr <= 20%"}, options), kRounds);
}

// A step is two rounds, so the last of an odd number is one. The first path is told to keep all,
// the second keeps the average of the later ones.
TYPED_TEST(AutoFitRounds, OddNumbersOfRoundsAreTrainedExactly) {
  const GeneratedData data = TwoGroups(1500, 22);
  const std::vector<std::vector<std::string>> paths = {
      {"fnr <= 20%"}, {"gap(fnr, by=group) <= 10%", "gap(fpr, by=group) <= 10%"}};
  constexpr int kRounds = 7;
  for (const std::vector<std::string>& limits : paths) {
    for (const auto& [validation, deploy, models] :
         {std::tuple(Validation::kFolds, Deploy::kFoldMean, 5),
          std::tuple(Validation::kFolds, Deploy::kRefit, 1),
          std::tuple(Validation::kHoldOut, Deploy::kFoldMean, 1)}) {
      SCOPED_TRACE(fmt::format("{} {} {}", limits[0], Name(validation), Name(deploy)));
      FitOptions options;
      options.validation = validation;
      options.deploy = deploy;
      options.solver.all_rounds = true;
      const AutoFit fit = this->Fit(data, limits, options, kRounds);
      const RateTrainingResult& training = fit.report().unseen.training;
      EXPECT_EQ(training.history.size(), 5);  // the start and four steps
      EXPECT_EQ(training.history.back().evaluations, kRounds);
      EXPECT_EQ(training.rounds_kept, kRounds);
      EXPECT_EQ(TypeParam::NumRounds(fit.Model()), models * kRounds);
    }
  }
}

}  // namespace
}  // namespace bregboost
