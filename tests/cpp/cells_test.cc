#include "bregboost/problem/cells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "random_problems.h"

namespace bregboost {
namespace {

using Codes = std::vector<std::int32_t>;

// Five rows in four (label, sex) tuples; (no, M) does not occur twice, (yes, F) does.
//   row  label  sex  weight  rate weight
//    0   yes    F      1        4
//    1   no     M      4        2
//    2   yes    F      3        1
//    3   yes    M      1        0
//    4   no     F      0        5
RowData FiveRows() {
  RowData rows;
  rows.labels = EncodeColumn("y", {"yes", "no", "yes", "yes", "no"});
  rows.groups = {EncodeColumn("sex", {"F", "M", "F", "M", "F"})};
  rows.weights = {1.0, 4.0, 3.0, 1.0, 0.0};
  rows.rate_weights = {4.0, 2.0, 1.0, 0.0, 5.0};
  return rows;
}

TEST(MakeCells, TuplesThatOccurInLexicographicOrder) {
  const CellTable table = MakeCells(FiveRows(), {"sex"}, /*with_baseline=*/false);
  EXPECT_EQ(table.group_columns, std::vector<std::string>{"sex"});
  EXPECT_EQ(table.cell_of_row, (std::vector<std::uint32_t>{2, 1, 2, 3, 0}));
  ASSERT_EQ(table.cells.size(), 4U);
  const std::vector<std::pair<int, int>> label_and_sex = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  for (std::size_t c = 0; c < 4; ++c) {
    EXPECT_EQ(table.cells[c].label, label_and_sex[c].first);
    EXPECT_EQ(table.cells[c].groups, Codes{label_and_sex[c].second});
    EXPECT_EQ(table.cells[c].baseline, -1);
  }
}

TEST(MakeCells, SumsOfWeights) {
  const CellTable table = MakeCells(FiveRows(), {"sex"}, false);
  const Cell& yes_f = table.cells[2];  // rows 0 and 2
  EXPECT_EQ(yes_f.rows, 2U);
  EXPECT_EQ(yes_f.rate_weight, 5.0);
  EXPECT_DOUBLE_EQ(yes_f.squared_rate_weight, 4.0 * 4.0 / 4.0 + 1.0 * 1.0 / 3.0);
  EXPECT_EQ(yes_f.max_weight_ratio, 1.0);
  const Cell& yes_m = table.cells[3];  // row 3, which no rate sees
  EXPECT_EQ(yes_m.rows, 0U);
  EXPECT_EQ(yes_m.rate_weight, 0.0);
  EXPECT_EQ(yes_m.squared_rate_weight, 0.0);
  EXPECT_EQ(yes_m.max_weight_ratio, 0.0);
  EXPECT_EQ(table.cells[1].max_weight_ratio, 0.5);  // row 1
  EXPECT_EQ(table.metric_weight, 4.0 + 4.0 + 3.0 + 1.0 + 5.0);
}

TEST(MakeCells, RowsWithoutAnyWeightAddNothing) {
  RowData rows = FiveRows();
  rows.weights[3] = 0.0;
  const Cell cell = MakeCells(rows, {"sex"}, false).cells[3];
  EXPECT_EQ(cell.squared_rate_weight, 0.0);  // not 0 / 0
  EXPECT_EQ(cell.max_weight_ratio, 0.0);
}

TEST(MakeCells, LabelAloneWithoutGroups) {
  const CellTable table = MakeCells(FiveRows(), {}, false);
  EXPECT_EQ(table.cell_of_row, (std::vector<std::uint32_t>{1, 0, 1, 1, 0}));
  EXPECT_TRUE(table.cells[0].groups.empty());
}

TEST(MakeCells, OneCellForRegressionWithoutGroups) {
  const CellTable table = MakeCells(test::RegressionRows(10, 1), {}, false);
  ASSERT_EQ(table.cells.size(), 1U);
  EXPECT_EQ(table.cells[0].label, -1);
  EXPECT_EQ(table.cells[0].rows, 10U);
}

TEST(MakeCells, UnknownColumnIsNamed) {
  try {
    MakeCells(FiveRows(), {"age"}, false);
    FAIL() << "no error";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "no group column 'age'");
  }
}

// Every row's cell has the row's own tuple, and every cell has rows.
TEST(MakeCells, AgreesWithTheRowsOnRandomData) {
  const RowData rows = test::FourClassRows(500, 2);
  const CellTable table = MakeCells(rows, {"race", "sex"}, /*with_baseline=*/true);
  std::vector<std::size_t> count(table.cells.size(), 0);
  std::set<std::tuple<int, int, int, int>> tuples;
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    const Cell& cell = table.cells.at(table.cell_of_row[i]);
    const int sex = rows.groups[0].codes[i];
    const int race = rows.groups[1].codes[i];
    EXPECT_EQ(cell.label, rows.labels.codes[i]);
    EXPECT_EQ(cell.baseline, rows.baseline[i]);
    EXPECT_EQ(cell.groups, (Codes{race, sex}));  // in the order asked for
    ++count[table.cell_of_row[i]];
    tuples.emplace(cell.label, cell.baseline, race, sex);
  }
  EXPECT_EQ(tuples.size(), table.cells.size());
  for (std::size_t c = 0; c < count.size(); ++c) EXPECT_EQ(count[c], table.cells[c].rows);
  double total = 0.0;
  for (const Cell& cell : table.cells) total += cell.rate_weight;
  EXPECT_NEAR(total, std::accumulate(rows.rate_weights.begin(), rows.rate_weights.end(), 0.0),
              1e-10);
}

// More pairs of levels than rows: those that occur are numbered in the same order.
TEST(MakeCells, ManyLevelsFewRows) {
  RowData rows = FiveRows();
  const Codes a = {70'000, 3, 70'000, 70'000, 9}, b = {5, 80'000, 5, 4, 0};
  for (const Codes* codes : {&a, &b}) {
    const std::string name = codes == &a ? "a" : "b";
    rows.groups.push_back(
        {.name = name, .levels = std::vector<std::string>(90'000, name), .codes = *codes});
  }
  const CellTable table = MakeCells(rows, {"a", "b"}, /*with_baseline=*/false);
  // By (label, a, b): (no, 3, 80000), (no, 9, 0), (yes, 70000, 4), (yes, 70000, 5).
  EXPECT_EQ(table.cell_of_row, (std::vector<std::uint32_t>{3, 0, 3, 2, 1}));
  ASSERT_EQ(table.cells.size(), 4U);
  EXPECT_EQ(table.cells[0].groups, (Codes{3, 80'000}));
  EXPECT_EQ(table.cells[2].groups, (Codes{70'000, 4}));
}

TEST(MakeCells, NumberingDoesNotDependOnTheRowOrder) {
  RowData rows = test::BinaryRows(200, 3);
  const CellTable forward = MakeCells(rows, {"sex", "race"}, true);
  std::reverse(rows.labels.codes.begin(), rows.labels.codes.end());
  std::reverse(rows.baseline.begin(), rows.baseline.end());
  for (CategoricalColumn& group : rows.groups) std::reverse(group.codes.begin(), group.codes.end());
  CellTable backward = MakeCells(rows, {"sex", "race"}, true);
  std::reverse(backward.cell_of_row.begin(), backward.cell_of_row.end());
  EXPECT_EQ(backward.cell_of_row, forward.cell_of_row);
}

TEST(FindGroup, ByExactName) {
  const RowData rows = FiveRows();
  EXPECT_EQ(FindGroup(rows, "sex"), rows.groups.data());
  EXPECT_EQ(FindGroup(rows, "Sex"), nullptr);
}

}  // namespace
}  // namespace bregboost
