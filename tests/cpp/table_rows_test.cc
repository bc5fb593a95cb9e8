#include "bregboost/data/table_rows.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "error_text.h"

namespace bregboost {
namespace {

using testing::ErrorOf;

using Codes = std::vector<std::int32_t>;
using Texts = std::vector<std::string>;

const std::string kText = "y,t,w,sex,race,x\nno,1.5,2,F,1,7\nyes,2.5,1,M,2,8\nno,3.5,0,F,01,9\n";

Table Read(const std::string& text, const RowColumns& columns) {
  TextView source(text, "x.csv");
  return ReadTable(source, WithRowColumns({}, columns));
}

TEST(RowsOf, Classification) {
  const RowColumns columns{.label = "y", .weight = "w", .groups = {"sex", "race"}};
  const RowData rows = RowsOf(Read(kText, columns), columns);
  EXPECT_NO_THROW(Validate(rows));
  EXPECT_EQ(rows.task(), Task::kBinary);
  EXPECT_EQ(rows.labels.name, "y");
  EXPECT_EQ(rows.labels.levels, (Texts{"no", "yes"}));
  EXPECT_EQ(rows.labels.codes, (Codes{0, 1, 0}));
  EXPECT_EQ(rows.weights, (std::vector<double>{2, 1, 0}));
  EXPECT_TRUE(rows.rate_weights.empty());
  ASSERT_EQ(rows.groups.size(), 2U);
  EXPECT_EQ(rows.groups[0].codes, (Codes{0, 1, 0}));
  EXPECT_EQ(rows.groups[1].levels, (Texts{"01", "1", "2"}));
}

TEST(RowsOf, Regression) {
  const RowColumns columns{.target = "t", .rate_weight = "w"};
  const RowData rows = RowsOf(Read(kText, columns), columns);
  EXPECT_EQ(rows.task(), Task::kRegression);
  EXPECT_EQ(rows.targets, (std::vector<double>{1.5, 2.5, 3.5}));
  EXPECT_EQ(rows.rate_weights, (std::vector<double>{2, 1, 0}));
}

TEST(RowsOf, ClassesOfAModel) {
  const RowColumns columns{.label = "y"};
  const Table table = Read(kText, columns);
  const RowData rows = RowsOf(table, columns, {"yes", "maybe", "no"});
  EXPECT_EQ(rows.labels.levels, (Texts{"yes", "maybe", "no"}));
  EXPECT_EQ(rows.labels.codes, (Codes{2, 0, 2}));
  EXPECT_EQ(ErrorOf([&] {
              RowsOf(table, columns, {"no", "maybe"});
            }),
            "'x.csv', column 'y': 'yes'; allowed: no, maybe");
}

TEST(RowsOf, MissingValuesAreErrorsWithTheirLine) {
  struct Case {
    std::string text;
    RowColumns columns;
    std::string place;
  };
  const std::vector<Case> cases = {
      {"y,x\na,1\n\n,2\n", {.label = "y"}, "line 4, column 'y'"},
      {"t,x\n1,1\nNA,2\n", {.target = "t"}, "line 3, column 't'"},
      {"y,w\na,\nb,2\n", {.label = "y", .weight = "w"}, "line 2, column 'w'"},
      {"y,g\na,p\nb,?\n", {.label = "y", .groups = {"g"}}, "line 3, column 'g'"}};
  for (const Case& test : cases) {
    EXPECT_EQ(ErrorOf([&] { RowsOf(Read(test.text, test.columns), test.columns); }),
              "'x.csv', " + test.place + ": missing; allowed here: a value in every row");
  }
}

TEST(RowsOf, ColumnsMustBeThereAndOfTheirKind) {
  EXPECT_NE(ErrorOf([] { Read(kText, {.label = "yy"}); }).find("no column 'yy'"),
            std::string::npos);
  EXPECT_NE(ErrorOf([] {
              Read(kText, {.label = "y", .weight = "sex"});
            }).find("line 2, column 'sex': 'F'; allowed: numbers"),
            std::string::npos);
  EXPECT_EQ(ErrorOf([] { Read(kText, {.label = "y", .target = "t"}); }),
            "label, target: 'y' and 't'; allowed: one of them");
  const Table numbers = Read(kText, {});
  EXPECT_EQ(ErrorOf([&] { RowsOf(numbers, {.label = "x"}); }),
            "'x.csv', column 'x': read as numeric; allowed here: categorical");
}

TEST(RowsOf, SparseTables) {
  TextView source("+1 1:2\n-1 1:3\n");
  const RowData rows = RowsOf(ReadLibsvm(source));
  EXPECT_EQ(rows.labels.levels, (Texts{"-1", "+1"}));
  EXPECT_EQ(rows.labels.codes, (Codes{1, 0}));
  source.Rewind();
  const RowData targets = RowsOf(ReadLibsvm(source, {.label = ColumnKind::kNumeric}));
  EXPECT_EQ(targets.targets, (std::vector<double>{1.0, -1.0}));
}

TEST(PositiveClass, IsACode) {
  const RowColumns columns{.label = "y"};
  const RowData rows = RowsOf(Read(kText, columns), columns);
  EXPECT_EQ(PositiveClass(rows, "no"), 0);
  EXPECT_EQ(PositiveClass(rows, "yes"), 1);
  EXPECT_EQ(ErrorOf([&] { PositiveClass(rows, "maybe"); }),
            "positive: 'maybe' is not a label; allowed: no, yes");
}

}  // namespace
}  // namespace bregboost
