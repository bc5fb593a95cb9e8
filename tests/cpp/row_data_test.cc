#include "bregboost/data/row_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace bregboost {
namespace {

using Texts = std::vector<std::string>;
using Codes = std::vector<std::int32_t>;

TEST(EncodeColumn, OrdersNumbersByValue) {
  const CategoricalColumn column = EncodeColumn("age", {"10", "9", "-1", "9", "1e1"});
  EXPECT_EQ(column.name, "age");
  EXPECT_EQ(column.levels, (Texts{"-1", "9", "10", "1e1"}));  // equal numbers: byte order
  EXPECT_EQ(column.codes, (Codes{2, 1, 0, 1, 3}));
}

TEST(EncodeColumn, OrdersTextsByBytes) {
  const CategoricalColumn column = EncodeColumn("x", {"b", "10", "9", "B", ""});
  EXPECT_EQ(column.levels, (Texts{"", "10", "9", "B", "b"}));
  EXPECT_EQ(column.codes, (Codes{4, 1, 2, 3, 0}));
}

TEST(EncodeColumn, NanAndInfinityAreTexts) {
  EXPECT_EQ(EncodeColumn("x", {"nan", "10", "9"}).levels, (Texts{"10", "9", "nan"}));
  EXPECT_EQ(EncodeColumn("x", {"inf", "10", "9"}).levels, (Texts{"10", "9", "inf"}));
}

TEST(EncodeColumn, CodesDoNotDependOnTheRowOrder) {
  const CategoricalColumn one = EncodeColumn("x", {"c", "a", "b"});
  const CategoricalColumn two = EncodeColumn("x", {"b", "c", "a"});
  EXPECT_EQ(one.levels, two.levels);
  EXPECT_EQ(one.codes, (Codes{2, 0, 1}));
  EXPECT_EQ(two.codes, (Codes{1, 2, 0}));
}

TEST(EncodeColumn, NoRows) {
  EXPECT_TRUE(EncodeColumn("x", {}).levels.empty());
  EXPECT_TRUE(EncodeColumn("x", {}).codes.empty());
}

// Three rows of two classes, with a group column.
RowData ThreeRows() {
  RowData rows;
  rows.labels = EncodeColumn("y", {"no", "yes", "no"});
  rows.groups = {EncodeColumn("sex", {"F", "M", "M"})};
  return rows;
}

RowData ThreeTargets() {
  RowData rows;
  rows.targets = {1.0, -2.0, 0.5};
  return rows;
}

TEST(RowData, TaskAndScores) {
  EXPECT_EQ(ThreeRows().task(), Task::kBinary);
  EXPECT_EQ(ThreeRows().num_scores(), 1U);
  EXPECT_EQ(ThreeRows().num_rows(), 3U);
  RowData three_classes = ThreeRows();
  three_classes.labels.levels.emplace_back("perhaps");  // a level may have no rows
  EXPECT_EQ(three_classes.task(), Task::kMulticlass);
  EXPECT_EQ(three_classes.num_scores(), 3U);
  EXPECT_EQ(ThreeTargets().task(), Task::kRegression);
  EXPECT_EQ(ThreeTargets().num_scores(), 1U);
  EXPECT_EQ(ThreeTargets().num_rows(), 3U);
}

TEST(RowData, WeightsDefaultToOneAndRatesFollowThem) {
  RowData rows = ThreeRows();
  EXPECT_EQ(rows.weight(1), 1.0);
  EXPECT_EQ(rows.rate_weight(1), 1.0);
  rows.weights = {1.0, 3.0, 0.0};
  EXPECT_EQ(rows.rate_weight(1), 3.0);
  rows.rate_weights = {2.0, 0.5, 1.0};
  EXPECT_EQ(rows.weight(1), 3.0);
  EXPECT_EQ(rows.rate_weight(1), 0.5);
}

TEST(RowData, MetricWeightIsTheLargerWeight) {
  RowData rows = ThreeRows();
  rows.weights = {1.0, 3.0, 0.0};
  rows.rate_weights = {2.0, 0.5, 1.0};
  EXPECT_EQ(rows.metric_weight(0), 2.0);
  EXPECT_EQ(rows.metric_weight(1), 3.0);
  EXPECT_EQ(rows.metric_weight(2), 1.0);
}

// The message of the exception that `Validate` throws for these rows after `spoil`.
std::string ErrorAfter(const std::function<void(RowData&)>& spoil, RowData rows = ThreeRows()) {
  spoil(rows);
  try {
    Validate(rows);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ValidateRows, AcceptsGoodRows) {
  EXPECT_NO_THROW(Validate(ThreeRows()));
  EXPECT_NO_THROW(Validate(ThreeTargets()));
  RowData rows = ThreeRows();
  rows.weights = {0.0, 1.0, 2.0};
  rows.rate_weights = {1.0, 0.0, 0.0};
  rows.baseline = {1, 1, 0};
  rows.positive_class = 0;
  EXPECT_NO_THROW(Validate(rows));
}

TEST(ValidateRows, NoRows) {
  EXPECT_EQ(ErrorAfter([](RowData& rows) { rows = {}; }), "rows: 0; allowed: at least 1");
}

TEST(ValidateRows, LabelsAndTargetsExclude) {
  const std::string both = "labels and targets are both given; allowed: one of them";
  EXPECT_EQ(ErrorAfter([](RowData& rows) { rows.targets = {1.0, 2.0, 3.0}; }), both);
  // Levels alone would pass for classes, though the task is a regression.
  EXPECT_EQ(ErrorAfter(
                [](RowData& rows) {
                  rows.labels.levels = {"a", "b"};
                },
                ThreeTargets()),
            both);
}

TEST(ValidateRows, LabelsNeedTwoLevels) {
  EXPECT_EQ(ErrorAfter([](RowData& rows) {
              rows.labels = EncodeColumn("y", {"a", "a", "a"});
            }),
            "labels: 1 distinct value(s); allowed: 2 or more");
}

TEST(ValidateRows, CodesOutsideTheLevels) {
  EXPECT_EQ(ErrorAfter([](RowData& rows) { rows.labels.codes[1] = 2; }),
            "labels: code 2 in row 1; allowed: 0 to 1");
  EXPECT_EQ(ErrorAfter([](RowData& rows) { rows.labels.codes[2] = -1; }),
            "labels: code -1 in row 2; allowed: 0 to 1");
  EXPECT_EQ(ErrorAfter([](RowData& rows) { rows.groups[0].codes[0] = 7; }),
            "group column 'sex': code 7 in row 0; allowed: 0 to 1");
  EXPECT_EQ(ErrorAfter([](RowData& rows) {
              rows.baseline = {0, 1, 5};
            }),
            "baseline: code 5 in row 2; allowed: 0 to 1");
}

TEST(ValidateRows, PositiveClass) {
  EXPECT_EQ(ErrorAfter([](RowData& rows) { rows.positive_class = 2; }),
            "positive_class: 2; allowed: 0 or 1");
}

TEST(ValidateRows, Lengths) {
  const std::string one_each = "; allowed: one for each of the 3 rows";
  EXPECT_EQ(ErrorAfter([](RowData& rows) { rows.weights = {1.0}; }),
            "weights has 1 values" + one_each);
  EXPECT_EQ(ErrorAfter([](RowData& rows) { rows.rate_weights.assign(4, 1.0); }),
            "rate_weights has 4 values" + one_each);
  EXPECT_EQ(ErrorAfter([](RowData& rows) { rows.groups[0].codes.pop_back(); }),
            "group column 'sex' has 2 values" + one_each);
  EXPECT_EQ(ErrorAfter([](RowData& rows) { rows.baseline = {0}; }),
            "baseline has 1 values" + one_each);
}

TEST(ValidateRows, Weights) {
  const std::string allowed = " in row 1; allowed: finite and at least 0";
  for (const auto& [value, text] : {std::pair{-0.5, "-0.5"}, {kNaN, "nan"}, {kInfinity, "inf"}}) {
    EXPECT_EQ(ErrorAfter([v = value](RowData& rows) {
                rows.weights = {1.0, v, 1.0};
              }),
              "weights: value " + std::string(text) + allowed);
    EXPECT_EQ(ErrorAfter([v = value](RowData& rows) {
                rows.rate_weights = {1.0, v, 1.0};
              }),
              "rate_weights: value " + std::string(text) + allowed);
  }
  EXPECT_EQ(ErrorAfter([](RowData& rows) { rows.weights.assign(3, 0.0); }),
            "weights: the sum is 0; allowed: a positive sum");
  EXPECT_EQ(ErrorAfter([](RowData& rows) { rows.rate_weights.assign(3, 0.0); }),
            "rate_weights: the sum is 0; allowed: a positive sum");
}

TEST(ValidateRows, TargetsAreFinite) {
  EXPECT_EQ(ErrorAfter([](RowData& rows) { rows.targets[2] = kNaN; }, ThreeTargets()),
            "targets: value nan in row 2; allowed: finite");
  EXPECT_EQ(ErrorAfter([](RowData& rows) { rows.targets[0] = -kInfinity; }, ThreeTargets()),
            "targets: value -inf in row 0; allowed: finite");
}

TEST(ValidateRows, GroupNamesAreDistinct) {
  EXPECT_EQ(ErrorAfter([](RowData& rows) { rows.groups.push_back(rows.groups[0]); }),
            "group column 'sex' is given twice; allowed: distinct names");
}

TEST(RecodeLike, MatchesByText) {
  RowData like;
  like.labels = EncodeColumn("label", {"no", "yes", "no"});
  like.groups = {EncodeColumn("sex", {"F", "M", "F"}), EncodeColumn("race", {"x", "y", "z"})};
  RowData rows;
  rows.labels = {.name = "label", .levels = {"yes", "maybe", "no"}, .codes = {0, 2, 0}};
  rows.positive_class = 0;
  rows.baseline = {2, 2, 0};
  rows.groups = {{.name = "age", .levels = {"old"}, .codes = {0, 0, 0}},
                 {.name = "race", .levels = {"w", "z", "x"}, .codes = {0, 1, 2}}};
  rows.weights = {1.0, 2.0, 3.0};
  const RowData recoded = RecodeLike(rows, like);
  EXPECT_EQ(recoded.labels.levels, like.labels.levels);
  EXPECT_EQ(recoded.labels.codes, (std::vector<std::int32_t>{1, 0, 1}));
  EXPECT_EQ(recoded.baseline, (std::vector<std::int32_t>{0, 0, 1}));
  EXPECT_EQ(recoded.positive_class, 1);
  ASSERT_EQ(recoded.groups.size(), 1);  // "age" is nothing to `like`, "sex" is not there
  EXPECT_EQ(recoded.groups[0].levels, (std::vector<std::string>{"x", "y", "z", "w"}));
  EXPECT_EQ(recoded.groups[0].codes, (std::vector<std::int32_t>{3, 2, 0}));
  EXPECT_EQ(recoded.weights, rows.weights);
  rows.labels.codes[1] = 1;
  EXPECT_THROW(RecodeLike(rows, like), std::invalid_argument);
}

}  // namespace
}  // namespace bregboost
