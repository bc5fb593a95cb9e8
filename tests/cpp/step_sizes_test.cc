#include "bregboost/solve/step_sizes.h"

#include <gtest/gtest.h>

namespace bregboost {
namespace {

TEST(StepSizes, ProductOfStepsStaysConstantAndPrimalStepsFall) {
  for (const double mu : {0.1, 1.0, 10.0}) {
    StepSizes step{.tau = 0.7, .gamma = 2.0};
    const double product = step.tau * step.sigma();
    for (int k = 0; k < 1000; ++k) {
      const StepSizes next = step.Next(mu);
      EXPECT_NEAR(next.tau * next.sigma(), product, 1e-9 * product);
      const double theta = step.sigma() / next.sigma();
      EXPECT_LT(theta, 1.0);
      EXPECT_NEAR(theta, next.tau / step.tau, 1e-12);
      EXPECT_NEAR(next.gamma, step.gamma * (1.0 + mu * step.tau), 1e-9 * next.gamma);
      step = next;
    }
  }
}

TEST(StepSizes, WithoutStrongConvexityNothingChanges) {
  const StepSizes step{.tau = 0.7, .gamma = 2.0};
  const StepSizes next = step.Next(0.0);
  EXPECT_EQ(next.tau, step.tau);
  EXPECT_EQ(next.gamma, step.gamma);
}

// T_K = sum of t_k grows like k^2 for mu > 0: that is where O(1/K^2) comes from.
TEST(StepSizes, AveragingWeightsGrowLinearlyWithStrongConvexity) {
  StepSizes step{.tau = 1.0, .gamma = 1.0};
  const double sigma_0 = step.sigma();
  double at_1000 = 0.0;
  for (int k = 0; k <= 4000; ++k) {
    if (k == 1000) at_1000 = step.sigma() / sigma_0;
    step = step.Next(1.0);
  }
  EXPECT_NEAR(step.sigma() / sigma_0 / at_1000, 4.0, 0.05);
}

TEST(StepSizes, LargestDualStepMeetsTheConditionWithTheSquare) {
  const double sigma = LargestDualStep(/*tau=*/0.5, /*lipschitz=*/3.0, /*delta=*/0.9);
  EXPECT_NEAR(0.5 * sigma * 3.0 * 3.0, 0.9, 1e-15);
}

TEST(AccuracySchedule, FollowsThePowersOfThePaper) {
  for (const std::int64_t k : {0, 1, 10, 1000}) {
    const double base = static_cast<double>(k) + 2.0;
    EXPECT_NEAR(AccuracyAt(k, 0.5, 0.0, 1.0).nu, 0.5 * std::pow(base, -4.0), 1e-18);
    EXPECT_NEAR(AccuracyAt(k, 0.5, 2.0, 3.0).delta, 1.5 * std::pow(base, -7.0), 1e-18);
  }
}

}  // namespace
}  // namespace bregboost
