// Clopper-Pearson against the sums that define it and against printed tables.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "bregboost/certify/binomial_bounds.h"
#include "error_text.h"

namespace bregboost {
namespace {

// P(X <= events) for X of `rows` rows, term by term.
double AtMost(std::int64_t events, std::int64_t rows, double rate) {
  double total = 0.0;
  for (std::int64_t k = 0; k <= events; ++k) {
    const auto n = static_cast<double>(rows), x = static_cast<double>(k);
    total += std::exp(std::lgamma(n + 1.0) - std::lgamma(x + 1.0) - std::lgamma(n - x + 1.0) +
                      x * std::log(rate) + (n - x) * std::log1p(-rate));
  }
  return total;
}

TEST(BinomialBounds, AreWhereTheTailIsDelta) {
  for (const double delta : {0.01, 0.1, 0.5}) {
    for (const std::int64_t rows : {1, 7, 60, 400}) {
      for (std::int64_t events = 0; events <= rows; events += 1 + rows / 9) {
        if (events < rows) {
          const double upper = BinomialUpperBound(events, rows, delta);
          EXPECT_NEAR(AtMost(events, rows, upper), delta, 1e-9) << events << " of " << rows;
        }
        if (events > 0) {
          const double lower = BinomialLowerBound(events, rows, delta);
          EXPECT_NEAR(1.0 - AtMost(events - 1, rows, lower), delta, 1e-9)
              << events << " of " << rows;
        }
      }
    }
  }
}

// 95% intervals as printed in tables.
TEST(BinomialBounds, MatchTables) {
  EXPECT_NEAR(BinomialUpperBound(10, 100, 0.025), 0.1762, 5e-5);
  EXPECT_NEAR(BinomialLowerBound(10, 100, 0.025), 0.0490, 5e-5);
  EXPECT_NEAR(BinomialUpperBound(4, 20, 0.025), 0.4366, 5e-5);
  EXPECT_NEAR(BinomialLowerBound(4, 20, 0.025), 0.0573, 5e-5);
}

TEST(BinomialBounds, AtTheEnds) {
  EXPECT_EQ(BinomialUpperBound(5, 5, 0.1), 1.0);
  EXPECT_EQ(BinomialLowerBound(0, 5, 0.1), 0.0);
  EXPECT_NEAR(BinomialUpperBound(0, 30, 0.1), 1.0 - std::pow(0.1, 1.0 / 30.0), 1e-14);
  EXPECT_NEAR(BinomialLowerBound(30, 30, 0.1), std::pow(0.1, 1.0 / 30.0), 1e-14);
}

TEST(BinomialBounds, AreMonotone) {
  for (std::int64_t k = 0; k < 39; ++k) {
    EXPECT_LT(BinomialUpperBound(k, 40, 0.1), BinomialUpperBound(k + 1, 40, 0.1));
    EXPECT_LT(BinomialUpperBound(k, 40, 0.1), BinomialUpperBound(k, 40, 0.05));
    EXPECT_LT(BinomialUpperBound(4 * k, 160, 0.1), BinomialUpperBound(k, 40, 0.1));
    EXPECT_LT(BinomialLowerBound(k, 40, 0.1), static_cast<double>(k) / 40.0 + 1e-12);
    EXPECT_GT(BinomialUpperBound(k, 40, 0.1), static_cast<double>(k) / 40.0);
  }
}

TEST(BinomialBounds, RefuseWhatIsNoCount) {
  EXPECT_THROW(BinomialUpperBound(1, 0, 0.1), std::invalid_argument);
  EXPECT_EQ(testing::ErrorOf([] { BinomialUpperBound(0, -1, 0.1); }),
            "rows: -1; allowed: at least 1");
  EXPECT_THROW(BinomialUpperBound(-1, 5, 0.1), std::invalid_argument);
  EXPECT_THROW(BinomialLowerBound(6, 5, 0.1), std::invalid_argument);
  EXPECT_THROW(BinomialLowerBound(1, 5, 0.0), std::invalid_argument);
  EXPECT_THROW(BinomialUpperBound(1, 5, std::nan("")), std::invalid_argument);
}

TEST(RowsNeeded, WithoutErrors) {
  EXPECT_EQ(RowsNeeded(0.0, 0.01, 0.05), 299);    // (1 - 1%)^n <= 5%
  EXPECT_EQ(RowsNeeded(0.0, 0.01, 0.0125), 437);  // one of four separate verdicts
  EXPECT_EQ(RowsNeeded(0.0, 1.0, 0.05), 1);
}

TEST(RowsNeeded, IsWhereTheBoundIsReached) {
  for (const double observed : {0.01, 0.03, 0.045, 0.0499}) {
    const auto needed = RowsNeeded(observed, 0.05, 0.1);
    ASSERT_TRUE(needed.has_value());
    const auto bound_at = [&](double rows) {
      return BinomialUpperBound(std::llround(observed * rows), std::llround(rows), 0.1);
    };
    const auto rows = static_cast<double>(*needed);
    // Counts are whole numbers: one event more or less is the accuracy that can be asked for.
    EXPECT_LE(bound_at(rows) - 1.0 / rows, 0.05) << observed;
    EXPECT_GT(bound_at(0.8 * rows), 0.05) << observed;
  }
}

TEST(RowsNeeded, GrowsTowardsTheBound) {
  EXPECT_LT(*RowsNeeded(0.0, 0.05, 0.1), *RowsNeeded(0.01, 0.05, 0.1));
  EXPECT_LT(*RowsNeeded(0.01, 0.05, 0.1), *RowsNeeded(0.04, 0.05, 0.1));
  EXPECT_LT(*RowsNeeded(0.01, 0.05, 0.1), *RowsNeeded(0.01, 0.05, 0.01));
  EXPECT_LT(*RowsNeeded(0.01, 0.05, 0.1), *RowsNeeded(0.01, 0.03, 0.1));
}

TEST(RowsNeeded, HasNoAnswerAtOrAboveTheBound) {
  EXPECT_FALSE(RowsNeeded(0.05, 0.05, 0.1).has_value());
  EXPECT_FALSE(RowsNeeded(0.2, 0.05, 0.1).has_value());
  EXPECT_FALSE(RowsNeeded(0.0, 0.0, 0.1).has_value());
  EXPECT_FALSE(RowsNeeded(std::nan(""), 0.05, 0.1).has_value());
  EXPECT_FALSE(RowsNeeded(0.05 - 1e-12, 0.05, 0.1).has_value());  // beyond 1e12 rows
}

}  // namespace
}  // namespace bregboost
