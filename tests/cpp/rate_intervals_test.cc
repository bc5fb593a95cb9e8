// Rows and intervals of measured rates, against counts by hand and the binomial bounds themselves.
#include "bregboost/certify/rate_intervals.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bregboost/certify/binomial_bounds.h"
#include "bregboost/problem/parser.h"
#include "bregboost/problem/rate_constraints.h"

namespace bregboost {
namespace {

// Ten rows: labels, groups, and scores whose sign is the prediction.
//   label     1 1 1 1 1 1 0 0 0 0
//   group     a a a a b b a a b b
//   predicted 1 1 1 0 0 1 0 1 0 0
struct TenRows {
  TenRows() {
    rows.labels = EncodeColumn("label", {"1", "1", "1", "1", "1", "1", "0", "0", "0", "0"});
    rows.groups.push_back(
        EncodeColumn("group", {"a", "a", "a", "a", "b", "b", "a", "a", "b", "b"}));
  }

  std::vector<RateOnRows> Of(const char* limit) const {
    const RateConstraints rates({ParseConstraint(limit)}, rows);
    auto found =
        FindRateIntervals(rates.compiled(), /*num_constraints=*/1, rows, rates.ExactSums(scores));
    EXPECT_EQ(found.size(), 1);
    return found.front();
  }

  RowData rows;
  std::vector<double> scores = {1, 1, 1, -1, -1, 1, -1, 1, -1, -1};
};

void ExpectShare(const RateOnRows& rate, std::int64_t events, std::int64_t rows) {
  EXPECT_DOUBLE_EQ(rate.value, static_cast<double>(events) / static_cast<double>(rows));
  EXPECT_EQ(rate.rows, static_cast<std::size_t>(rows));
  ASSERT_TRUE(rate.interval.has_value());
  EXPECT_EQ(*rate.interval, (Interval{.low = BinomialLowerBound(events, rows, 0.025),
                                      .high = BinomialUpperBound(events, rows, 0.025)}));
}

TEST(RateIntervals, AreThoseOfTheCount) {
  const TenRows ten;
  const auto fnr = ten.Of("fnr <= 50%");
  ASSERT_EQ(fnr.size(), 1);
  EXPECT_EQ(fnr[0].group, "");
  ExpectShare(fnr[0], 2, 6);
  // Clopper & Pearson's limits for 2 of 6, from tables.
  EXPECT_NEAR(fnr[0].interval->low, 0.0433, 5e-5);
  EXPECT_NEAR(fnr[0].interval->high, 0.7772, 5e-5);
  ExpectShare(ten.Of("error <= 50%")[0], 3, 10);
  ExpectShare(ten.Of("selection_rate <= 90%")[0], 5, 10);
}

TEST(RateIntervals, OfComplementsAreTurnedAround) {
  const TenRows ten;
  const RateOnRows recall = ten.Of("recall >= 10%")[0], fnr = ten.Of("fnr <= 50%")[0];
  ExpectShare(recall, 4, 6);
  EXPECT_NEAR(recall.interval->low, 1.0 - fnr.interval->high, 1e-12);
  EXPECT_NEAR(recall.interval->high, 1.0 - fnr.interval->low, 1e-12);
}

TEST(RateIntervals, OfGroupsAreOverTheirRows) {
  const auto groups = TenRows().Of("gap(fnr, by=group) <= 90%");
  ASSERT_EQ(groups.size(), 2);
  EXPECT_EQ(groups[0].group, "group=a");
  ExpectShare(groups[0], 1, 4);
  EXPECT_EQ(groups[1].group, "group=b");
  ExpectShare(groups[1], 1, 2);
}

TEST(RateIntervals, OfPrecisionAreOverTheSelected) {
  ExpectShare(TenRows().Of("precision >= 10%")[0], 4, 5);
}

TEST(RateIntervals, OfPrecisionWithoutSelectedRowsAreUndefined) {
  TenRows ten;
  ten.scores.assign(10, -1.0);
  const RateOnRows precision = ten.Of("precision >= 10%")[0];
  EXPECT_TRUE(std::isnan(precision.value));
  EXPECT_EQ(precision.rows, 0);
  EXPECT_FALSE(precision.interval.has_value());
}

TEST(RateIntervals, AreAbsentWhereARateIsNoShare) {
  const TenRows ten;
  for (const char* limit : {"balanced_error <= 90%", "fnr + fpr <= 90%", "2 * error <= 90%",
                            "fnr(group=a) - fnr(group=b) <= 90%", "loss <= 9"}) {
    const RateOnRows rate = ten.Of(limit)[0];
    EXPECT_FALSE(rate.interval.has_value()) << limit;
    EXPECT_GT(rate.rows, 0) << limit;
  }
}

// Weights are no evidence: equal ones change nothing, others leave no count of equal rows.
TEST(RateIntervals, CountRowsAndNotWeights) {
  TenRows ten;
  ten.rows.weights.assign(10, 3.0);
  ExpectShare(ten.Of("fnr <= 50%")[0], 2, 6);
  ExpectShare(ten.Of("precision >= 10%")[0], 4, 5);
  ten.rows.weights[0] = 0.0;  // out of sight
  ExpectShare(ten.Of("fnr <= 50%")[0], 2, 5);
  ten.rows.weights[1] = 1.0;
  const RateOnRows weighted = ten.Of("fnr <= 50%")[0];
  EXPECT_FALSE(weighted.interval.has_value());
  EXPECT_EQ(weighted.rows, 5);
}

}  // namespace
}  // namespace bregboost
