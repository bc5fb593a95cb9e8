#include "bregboost/solve/scale_free_ascent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace bregboost {
namespace {

using Values = std::vector<double>;

TEST(ScaleFreeAscent, FirstStepsByHand) {
  const Values charges = {4.0};
  ScaleFreeAscent ascent(charges, 0.5, 10.0);
  ascent.Step(Values{0.1}, /*extrapolate=*/false);
  // G = 1e-10 + 0.01, so the first step is c / L but for the start of G.
  const double first = 0.5 / 4.0 * 0.1 / std::sqrt(0.01 + 1e-10);
  EXPECT_NEAR(ascent.multipliers()[0], first, 1e-15);
  ascent.Step(Values{0.05}, /*extrapolate=*/false);
  const double second = first + 0.5 / 4.0 * (1.0 + first * 4.0) * 0.05 / std::sqrt(0.0125 + 1e-10);
  EXPECT_NEAR(ascent.multipliers()[0], second, 1e-15);
}

TEST(ScaleFreeAscent, ExtrapolatesFromTheSecondStepOn) {
  const Values charges = {1.0};
  ScaleFreeAscent plain(charges, 0.5, 100.0), ahead(charges, 0.5, 100.0);
  plain.Step(Values{0.2}, false);
  ahead.Step(Values{0.2}, true);
  EXPECT_DOUBLE_EQ(plain.multipliers()[0], ahead.multipliers()[0]);
  const double before = ahead.multipliers()[0];
  ahead.Step(Values{0.1}, true);  // z = 2 * 0.1 - 0.2 = 0
  EXPECT_DOUBLE_EQ(ahead.multipliers()[0], before);
}

// Rates in percent or shares, limits on rare or common rows: the path of lambda L is the same.
TEST(ScaleFreeAscent, DoesNotDependOnUnits) {
  const Values small = {2.0}, large = {500.0};
  ScaleFreeAscent a(small, 0.5, 1e9), b(large, 0.5, 1e9);
  for (int k = 0; k < 30; ++k) {
    const double g = std::cos(0.7 * k);
    a.Step(Values{g}, true);
    b.Step(Values{100.0 * g}, true);
    EXPECT_NEAR(a.multipliers()[0] * 2.0, b.multipliers()[0] * 500.0,
                1e-6 * (1.0 + b.multipliers()[0] * 500.0));
  }
}

TEST(ScaleFreeAscent, StaysWithinItsRange) {
  const Values charges = {1.0, 1.0};
  ScaleFreeAscent ascent(charges, 1.0, 0.3);
  for (int k = 0; k < 20; ++k) ascent.Step(Values{0.5, -0.5}, true);
  EXPECT_DOUBLE_EQ(ascent.multipliers()[0], 0.3);
  EXPECT_DOUBLE_EQ(ascent.multipliers()[1], 0.0);
}

TEST(ScaleFreeAscent, UndefinedRatesAndPowerlessLimitsMoveNothing) {
  const Values charges = {1.0, 0.0};
  ScaleFreeAscent ascent(charges, 0.5, 5.0);
  ascent.Step(Values{std::numeric_limits<double>::quiet_NaN(), 1.0}, true);
  EXPECT_EQ(ascent.multipliers(), (Values{0.0, 0.0}));
  ascent.Step(Values{0.1, 1.0}, true);
  EXPECT_GT(ascent.multipliers()[0], 0.0);
  EXPECT_EQ(ascent.multipliers()[1], 0.0);
}

TEST(ScaleFreeAscent, ExcessesBeyondMeasureLeaveNumbers) {
  ScaleFreeAscent ascent(std::vector<double>{1.0}, 0.5, 5.0);
  for (const double excess : {0.1, 1e308, -1e308, 0.1}) {
    ascent.Step(std::vector<double>{excess}, /*extrapolate=*/true);
    EXPECT_GE(ascent.multipliers()[0], 0.0);
    EXPECT_LE(ascent.multipliers()[0], 5.0);
  }
}

TEST(ScaleFreeAscent, StartsWhereItIsTold) {
  const Values charges = {1.0};
  ScaleFreeAscent ascent(charges, 0.5, 2.0);
  ascent.Set(Values{7.0});
  EXPECT_EQ(ascent.multipliers()[0], 2.0);
  EXPECT_THROW(ascent.Set(Values{1.0, 1.0}), std::invalid_argument);
  EXPECT_THROW(ascent.Step(Values{}, true), std::invalid_argument);
  EXPECT_THROW(ScaleFreeAscent(charges, 0.0, 1.0), std::invalid_argument);
  EXPECT_THROW(ScaleFreeAscent(charges, 1.0, -1.0), std::invalid_argument);
}

}  // namespace
}  // namespace bregboost
