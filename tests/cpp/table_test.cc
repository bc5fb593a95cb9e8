#include "bregboost/data/table.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "error_text.h"

namespace bregboost {
namespace {

using Codes = std::vector<std::int32_t>;
using Texts = std::vector<std::string>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Table Read(const std::string& text, const TableOptions& options = {},
           const std::string& name = "x.csv") {
  TextView source(text, name);
  return ReadTable(source, options);
}

std::string ErrorOf(const std::string& text, const TableOptions& options = {}) {
  return testing::ErrorOf([&] { Read(text, options); });
}

void ExpectNumbers(const TableColumn& column, const std::vector<double>& expected) {
  ASSERT_EQ(column.kind, ColumnKind::kNumeric) << column.name;
  ASSERT_EQ(column.values.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(column.values[i])) << column.name << ' ' << i;
    } else {
      EXPECT_EQ(column.values[i], expected[i]) << column.name << ' ' << i;
    }
  }
}

void ExpectCategories(const TableColumn& column, const Texts& levels, const Codes& codes) {
  EXPECT_EQ(column.kind, ColumnKind::kCategorical) << column.name;
  EXPECT_EQ(column.levels, levels) << column.name;
  EXPECT_EQ(column.codes, codes) << column.name;
  EXPECT_TRUE(column.values.empty());
}

TEST(ReadTable, InfersKinds) {
  const Table table = Read("size,colour,mixed\n1.5,red,1\n-2,blue,x\n+3e2,red,1\n");
  EXPECT_EQ(table.source, "x.csv");
  EXPECT_EQ(table.num_rows, 3U);
  ASSERT_EQ(table.columns.size(), 3U);
  EXPECT_EQ(table.columns[0].name, "size");
  ExpectNumbers(table.columns[0], {1.5, -2.0, 300.0});
  ExpectCategories(table.columns[1], {"blue", "red"}, {1, 0, 1});
  ExpectCategories(table.columns[2], {"1", "x"}, {0, 1, 0});
}

TEST(ReadTable, MissingValuesHaveManySpellings) {
  const Table table = Read("a,b\n,x\nNA,?\n?,\nNaN,null\nnull,NULL\nNULL, NA \nN/A,N/A\n 1 ,y\n");
  ExpectNumbers(table.columns[0], {kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, 1.0});
  ExpectCategories(table.columns[1], {"x", "y"}, {0, -1, -1, -1, -1, -1, -1, 1});
  EXPECT_EQ(table.columns[0].first_missing_line, 2U);
  EXPECT_EQ(table.columns[1].first_missing_line, 3U);
}

TEST(ReadTable, TheListOfMissingValuesCanBeReplaced) {
  const TableOptions options{.missing = {"-999", "none"}};
  const Table table = Read("a,b,c\n-999,none,NA\n2,x,1\n-99, none ,2\n", options);
  ExpectNumbers(table.columns[0], {kNaN, 2.0, -99.0});
  ExpectCategories(table.columns[1], {"x"}, {-1, 0, -1});
  ExpectCategories(table.columns[2], {"1", "2", "NA"}, {2, 0, 1});
}

TEST(ReadTable, ColumnsOfNothingAreNumeric) {
  ExpectNumbers(Read("a,b\n,1\nNA,2\n").columns[0], {kNaN, kNaN});
  ExpectCategories(Read("a,b\n,1\nNA,2\n", {.categorical = {"a"}}).columns[0], {}, {-1, -1});
}

TEST(ReadTable, NumbersMayBeInfiniteOrQuoted) {
  const Table table = Read("a\ninf\n-Infinity\n\"1.5\"\nnan\n");
  const double infinity = std::numeric_limits<double>::infinity();
  ExpectNumbers(table.columns[0], {infinity, -infinity, 1.5, kNaN});
  EXPECT_EQ(table.columns[0].first_missing_line, 5U);
}

TEST(ReadTable, TextAfterNumbersKeepsTheTextsAsWritten) {
  const Table table = Read("a,b\n1,1\n1.0,2\n ?,3\n+1,4\n1e0,5\nabc,6\n");
  ExpectCategories(table.columns[0], {"+1", "1", "1.0", "1e0", "abc"}, {1, 2, -1, 0, 3, 4});
  ExpectNumbers(table.columns[1], {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(table.columns[0].first_text, "abc");
  EXPECT_EQ(table.columns[0].first_text_line, 7U);
  EXPECT_EQ(table.columns[0].first_missing_line, 4U);
}

TEST(ReadTable, TextAfterMissingValuesNeedsNoSecondPass) {
  const Table table = Read("a\nNA\n\"\"\nx\n");
  ExpectCategories(table.columns[0], {"x"}, {-1, -1, 0});
}

TEST(ReadTable, LevelsDoNotDependOnTheOrderOfRows) {
  std::vector<std::string> rows = {"10,b", "9,a", "-1,c", "9.0,a"};
  std::mt19937 random(5);
  for (int repeat = 0; repeat < 10; ++repeat) {
    std::shuffle(rows.begin(), rows.end(), random);
    std::string text = "y,g\n";
    for (const std::string& row : rows) text += row + '\n';
    const Table table = Read(text, {.categorical = {"y"}});
    EXPECT_EQ(table.columns[0].levels, (Texts{"-1", "9", "9.0", "10"}));
    EXPECT_EQ(table.columns[1].levels, (Texts{"a", "b", "c"}));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto code = static_cast<std::size_t>(table.columns[0].codes[i]);
      EXPECT_TRUE(rows[i].starts_with(table.columns[0].levels[code] + ','));
    }
  }
}

TEST(ReadTable, LevelsWithASignAreNumbersToo) {
  EXPECT_EQ(Read("y\n+1\n-1\n", {.categorical = {"y"}}).columns[0].levels, (Texts{"-1", "+1"}));
}

TEST(ReadTable, ReadsWhatItIsTold) {
  const std::string text = "a,b,c,d\n1,x,2,y\n3,z,4,y\n";
  const Table dropped = Read(text, {.categorical = {"a"}, .drop = {"b", "d"}});
  ASSERT_EQ(dropped.columns.size(), 2U);
  ExpectCategories(dropped.columns[0], {"1", "3"}, {0, 1});
  ExpectNumbers(dropped.columns[1], {2, 4});
  const Table chosen = Read(text, {.only = {"d", "c"}});
  ASSERT_EQ(chosen.columns.size(), 2U);
  EXPECT_EQ(chosen.columns[0].name, "c");
  EXPECT_EQ(chosen.columns[1].name, "d");
}

// A file that somebody adds a row to before it is read again.
class GrowingText final : public TextSource {
 public:
  GrowingText() : TextSource("x.csv") {}

 private:
  std::size_t ReadUnchecked(std::span<char> buffer) override {
    const std::size_t size = std::min(buffer.size(), text_.size() - read_);
    std::copy_n(text_.data() + read_, size, buffer.data());
    read_ += size;
    return size;
  }
  void RewindUnchecked() override {
    text_ += "late\n";
    read_ = 0;
  }

  std::string text_ = "a\n1\nlate\n";
  std::size_t read_ = 0;
};

TEST(ReadTable, AFileThatChangesBetweenItsPassesIsAnError) {
  GrowingText growing;
  EXPECT_EQ(testing::ErrorOf([&] { ReadTable(growing, {}); }),
            "'x.csv' has changed while it was read: 2 rows, then 3; allowed: a file that stays as "
            "it is");
}

TEST(ReadTable, LateTextsOfChosenColumns) {
  const Table table = Read("a,b,c\n1,1,1.0\n2,x,y\n", {.drop = {"b"}});
  ASSERT_EQ(table.columns.size(), 2U);
  ExpectNumbers(table.columns[0], {1, 2});
  ExpectCategories(table.columns[1], {"1.0", "y"}, {0, 1});
}

TEST(ReadTable, TextInANumericColumnIsAnError) {
  EXPECT_EQ(ErrorOf("a,w\n1,2\n\"x\ny\",3\n4,heavy\n", {.numeric = {"w"}}),
            "'x.csv', line 5, column 'w': 'heavy'; allowed: numbers");
}

TEST(ReadTable, UnknownNamesAreErrors) {
  const std::string text = "age,sex\n1,2\n";
  EXPECT_EQ(ErrorOf(text, {.categorical = {"agee"}}),
            "'x.csv' has no column 'agee'; did you mean 'age'?");
  EXPECT_EQ(ErrorOf(text, {.drop = {"colour"}}),
            "'x.csv' has no column 'colour'; allowed: 'age', 'sex'");
  EXPECT_NE(ErrorOf(text, {.only = {"Sex"}}).find("did you mean 'sex'?"), std::string::npos);
  EXPECT_NE(ErrorOf(text, {.numeric = {"s"}}).find("no column 's'"), std::string::npos);
}

TEST(ReadTable, ContradictionsAreErrors) {
  const std::string text = "a,b\n1,2\n";
  EXPECT_EQ(ErrorOf(text, {.categorical = {"a"}, .numeric = {"a"}}),
            "categorical: 'a', which is asked to be numeric too; allowed: one of them");
  EXPECT_EQ(ErrorOf(text, {.categorical = {"a"}, .drop = {"a"}}),
            "categorical: 'a', which is asked to be dropped too; allowed: one of them");
  EXPECT_EQ(ErrorOf(text, {.numeric = {"a"}, .drop = {"a"}}),
            "numeric: 'a', which is asked to be dropped too; allowed: one of them");
  EXPECT_EQ(ErrorOf(text, {.categorical = {"a", "a"}}), "no error");
}

TEST(ReadTable, TheDelimiterGoesByTheNameUnlessGiven) {
  EXPECT_EQ(Read("a\tb\n1\t2\n", {}, "x.tsv.gz").columns.size(), 2U);
  EXPECT_EQ(Read("a;b\n1;2\n", {.delimiter = ';'}).columns.size(), 2U);
}

bool SameColumns(const Table& a, const Table& b) {
  if (a.num_rows != b.num_rows || a.columns.size() != b.columns.size()) return false;
  for (std::size_t j = 0; j < a.columns.size(); ++j) {
    const TableColumn &one = a.columns[j], &two = b.columns[j];
    if (one.kind != two.kind || one.codes != two.codes || one.levels != two.levels) return false;
    if (one.first_missing_line != two.first_missing_line) return false;
    if (one.first_text != two.first_text || one.first_text_line != two.first_text_line) {
      return false;
    }
    for (std::size_t i = 0; i < one.values.size(); ++i) {
      const bool both_missing = std::isnan(one.values[i]) && std::isnan(two.values[i]);
      if (!both_missing && one.values[i] != two.values[i]) return false;
    }
  }
  return true;
}

TEST(ReadTable, BlocksMakeNoDifference) {
  const std::string text =
      "n,late,c,q\r\n1.5,1,red,\"a,b\"\r\n,01,blue,\"say \"\"x\"\"\"\n-7e3,x,red,\"two\nlines\"\n"
      "inf,2,?,\nNA,2,gr\xC3\xBCn,last";
  const Table whole = Read(text);
  EXPECT_EQ(whole.columns[1].levels, (Texts{"01", "1", "2", "x"}));
  for (std::size_t block = 1; block <= 17; ++block) {
    TextView source(text, "x.csv", 18 - block);
    EXPECT_TRUE(SameColumns(ReadTable(source, {.block_bytes = block}), whole)) << block;
  }
}

// 3,000 rows: numbers; texts from the start; numbers, of which one row near the end makes texts;
// missing values, then texts.
std::string ManyRows() {
  std::mt19937 random(9);
  std::string text = "n,c,late,seldom\n";
  for (int i = 0; i < 3000; ++i) {
    text += i % 7 == 3 ? "NA" : std::to_string(static_cast<double>(random()) / 1e6);
    text += i % 5 == 0 ? ",\"two\n\"\"lines\"\"\"" : ",c" + std::to_string(random() % 9);
    text += i == 2500 ? ",late" : "," + std::to_string(random() % 4) + (i % 2 == 0 ? ".0" : "");
    text += i > 2900 ? ",x" + std::to_string(random() % 5) : ",";
    text += '\n';
  }
  return text;
}

class Threads {
 public:
  explicit Threads(int count) { omp_set_num_threads(count); }
  ~Threads() { omp_set_num_threads(before_); }

 private:
  int before_ = omp_get_max_threads();
};

TEST(ReadTable, PartsAndThreadsMakeNoDifference) {
  const std::string text = ManyRows();
  const Table whole = Read(text);
  EXPECT_EQ(whole.num_rows, 3000U);
  EXPECT_EQ(whole.columns[2].levels.size(), 9U);
  EXPECT_EQ(whole.columns[2].first_text_line, 3002U);  // 500 rows before it have two lines
  EXPECT_EQ(whole.columns[3].levels.size(), 5U);
  for (const int threads : {1, 2, 4}) {
    const Threads scope(threads);
    for (const std::size_t block : {64U, 1000U, 20'000U}) {
      EXPECT_TRUE(SameColumns(Read(text, {.block_bytes = block}), whole))
          << threads << ' ' << block;
    }
  }
}

TEST(ReadTable, OfSeveralErrorsTheFirstIsReported) {
  std::string text = "a,b\n";
  for (int i = 2; i < 2000; ++i) {
    text += i == 500 ? "1,x\n" : i == 900 ? "1\n" : i == 1500 ? "\xFF,1\n" : "1,2\n";
  }
  const Threads scope(4);
  for (int repeat = 0; repeat < 20; ++repeat) {
    EXPECT_EQ(ErrorOf(text, {.numeric = {"b"}, .block_bytes = 50}),
              "'x.csv', line 500, column 'b': 'x'; allowed: numbers");
    EXPECT_EQ(ErrorOf(text, {.block_bytes = 50}),
              "'x.csv', line 900, column 2: 1 fields; allowed: 2, as in the header");
  }
}

TEST(ColumnOf, FindsByName) {
  const Table table = Read("age,sex\n1,F\n");
  EXPECT_EQ(&ColumnOf(table, "sex"), &table.columns[1]);
  EXPECT_THROW(ColumnOf(table, "sexx"), std::invalid_argument);
}

}  // namespace
}  // namespace bregboost
