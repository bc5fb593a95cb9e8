#include "bregboost/data/delimited_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bregboost {
namespace {

using Row = std::vector<std::string>;

// Header and rows, or the message of the error as the only field.
std::vector<Row> Parse(const std::string& text, const DelimitedOptions& options,
                       std::size_t source_block) {
  std::vector<Row> rows;
  try {
    TextView source(text, "x", source_block);
    DelimitedText reader(source, options);
    rows.push_back(reader.header());
    while (reader.NextRow()) {
      Row& row = rows.emplace_back();
      for (std::size_t j = 0; j < reader.header().size(); ++j) row.emplace_back(reader.NextField());
    }
  } catch (const std::invalid_argument& error) {
    return {{error.what()}};
  }
  return rows;
}

std::vector<Row> Parse(const std::string& text, char delimiter = ',') {
  return Parse(text, {.delimiter = delimiter}, text.size() + 1);
}

struct Case {
  std::string text;
  std::vector<Row> rows;  // with the header
};

const std::vector<Case> kGood = {
    {"a,b\n1,2\n", {{"a", "b"}, {"1", "2"}}},
    {"a,b\n1,2", {{"a", "b"}, {"1", "2"}}},
    {"a,b\r\n1,2\r\n", {{"a", "b"}, {"1", "2"}}},
    {"a,b\r\n1,2", {{"a", "b"}, {"1", "2"}}},
    {"a,b\n1,2\r\n3,4\n", {{"a", "b"}, {"1", "2"}, {"3", "4"}}},
    {"\xEF\xBB\xBF"
     "a,b\n1,2\n",
     {{"a", "b"}, {"1", "2"}}},
    {"\xEF\xBB\xBF\"a\",b\n1,2\n", {{"a", "b"}, {"1", "2"}}},
    {"a\n1\n", {{"a"}, {"1"}}},
    {"a,b\n,\n", {{"a", "b"}, {"", ""}}},
    {"a,b\n,2\n", {{"a", "b"}, {"", "2"}}},
    {"a,b\n1,", {{"a", "b"}, {"1", ""}}},
    {"a,b\n1,\r\n", {{"a", "b"}, {"1", ""}}},
    {"a,b\n\"\",\"\"\n", {{"a", "b"}, {"", ""}}},
    {"a\n\"\"\n", {{"a"}, {""}}},
    {"a\n\"\"", {{"a"}, {""}}},
    {"a\n\n\n1\n\n", {{"a"}, {"1"}}},
    {"a,b\n\r\n1,2\r\n\r\n", {{"a", "b"}, {"1", "2"}}},
    {"\n\na,b\n1,2\n", {{"a", "b"}, {"1", "2"}}},
    {"a,b\n\"1,5\",2\n", {{"a", "b"}, {"1,5", "2"}}},
    {"a,b\n\"x\ny\",2\n", {{"a", "b"}, {"x\ny", "2"}}},
    {"a,b\n\"x\r\ny\",2\n", {{"a", "b"}, {"x\r\ny", "2"}}},
    {"a,b\n\"\n\",\"\n\n\"\n", {{"a", "b"}, {"\n", "\n\n"}}},
    {"a,b\n\"x\ry\",2\n", {{"a", "b"}, {"x\ry", "2"}}},
    {"a,b\n\"say \"\"hi\"\"\",2\n", {{"a", "b"}, {"say \"hi\"", "2"}}},
    {"a,b\n\"\"\"\",\"\"\"\"\"\"\n", {{"a", "b"}, {"\"", "\"\""}}},
    {"a,b\n\"\"\"x\",\"x\"\"\"\n", {{"a", "b"}, {"\"x", "x\""}}},
    {"a,b\n\",\"\",\",2\n", {{"a", "b"}, {",\",", "2"}}},
    {"a,b\n1,\"2\"", {{"a", "b"}, {"1", "2"}}},
    {"a,b\n1,\"2\"\r\n", {{"a", "b"}, {"1", "2"}}},
    {"a,b\n1,\"2\"\n\"3\",4\n", {{"a", "b"}, {"1", "2"}, {"3", "4"}}},
    {"a,b\n 1 , 2 \n", {{"a", "b"}, {" 1 ", " 2 "}}},
    {"a,b\n1\t,2\n", {{"a", "b"}, {"1\t", "2"}}},
    {"\"a\nb\",\"c,d\"\n1,2\n", {{"a\nb", "c,d"}, {"1", "2"}}},
    {"\"a\"\"b\",c\n1,2\n", {{"a\"b", "c"}, {"1", "2"}}},
    {"gr\xC3\xB6\xC3\x9F"
     "e,b\n\xE2\x82\xAC,\xF0\x9F\x8C\xB3\n",
     {{"gr\xC3\xB6\xC3\x9F"
       "e",
       "b"},
      {"\xE2\x82\xAC", "\xF0\x9F\x8C\xB3"}}},
    {"a;b\n1;2\n", {{"a;b"}, {"1;2"}}},
    {"a,b\n'1,2'\n", {{"a", "b"}, {"'1", "2'"}}},
    {"a,b\n\\,2\n", {{"a", "b"}, {"\\", "2"}}},
    {"a,b\n#1,2\n", {{"a", "b"}, {"#1", "2"}}},
};

const std::vector<std::pair<std::string, std::string>> kBad = {
    {"a,b\n1\n", "'x', line 2, column 2: 1 fields; allowed: 2, as in the header"},
    {"a,b\n1,2\n\n3,4,5\n", "'x', line 4, column 5: 3 fields; allowed: 2, as in the header"},
    {"a,b\n1,2,\n", "'x', line 2, column 5: 3 fields; allowed: 2, as in the header"},
    {"a,b\n\"1\n2\",3,4\n", "'x', line 3, column 6: 3 fields; allowed: 2, as in the header"},
    {"a,b\n\"\"\"\"\n", "'x', line 2, column 4: 1 fields; allowed: 2, as in the header"},
    {"a\n1,2\n", "'x', line 2, column 3: 2 fields; allowed: 1, as in the header"},
    {"a,b\n\xC3\xA4\xC3\xB6,1,2\n",
     "'x', line 2, column 6: 3 fields; allowed: 2, as in the header"},
    {"a,b\n\"1\"2,3\n",
     "'x', line 2, column 4: text behind a closing quote; allowed: a delimiter or a line break"},
    {"a,b\n1,\"2\n3\" \n",
     "'x', line 3, column 3: text behind a closing quote; allowed: a delimiter or a line break"},
    {"a,b\n1,\"2\n3,4\n",
     "'x', line 2, column 3: this quote is never closed; allowed: quotes in pairs"},
    {"a,b\n1,\"2\"\"\n",
     "'x', line 2, column 3: this quote is never closed; allowed: quotes in pairs"},
    {"a,b\n1,\"", "'x', line 2, column 3: this quote is never closed; allowed: quotes in pairs"},
    {"\"a,b\n1,2\n", "'x', line 1, column 1: this quote is never closed; allowed: quotes in pairs"},
    {"a,b\n1,5\" pipe\n",
     "'x', line 2, column 4: a quote within a field; allowed: fields in quotes from their start, "
     "and quotes in them doubled"},
    {"a,b\n1, \"2\"\n",
     "'x', line 2, column 4: a quote within a field; allowed: fields in quotes from their start, "
     "and quotes in them doubled"},
    {"a,b\r1,2\r",
     "'x', line 1, column 4: a carriage return alone; allowed: lines that end in LF or CR LF"},
    {"a,b\n1,2\r",
     "'x', line 2, column 4: a carriage return alone; allowed: lines that end in LF or CR LF"},
    {"a,b\n\"1\",2\r",
     "'x', line 2, column 6: a carriage return alone; allowed: lines that end in LF or CR LF"},
    {"a,b\n\"1\"\r,2\n",
     "'x', line 2, column 4: a carriage return alone; allowed: lines that end in LF or CR LF"},
    {"a,b\n", "'x': no row below the header; allowed: at least one"},
    {"a,b", "'x': no row below the header; allowed: at least one"},
    {"a,b\n\n\n", "'x': no row below the header; allowed: at least one"},
    {"\n\n", "'x': no header; allowed: a first line with column names"},
    {"\xEF\xBB\xBF", "'x': no header; allowed: a first line with column names"},
    {"a,,b\n1,2,3\n", "'x', line 1: column 2 of 3 has no name; allowed: names that are not empty"},
    {"a,\n1,2\n", "'x', line 1: column 2 of 2 has no name; allowed: names that are not empty"},
    {"a,b,a\n1,2,3\n", "'x', line 1: columns 1 and 3 are both named 'a'; allowed: distinct names"},
    {"\na,\"a\"\n1,2\n",
     "'x', line 2: columns 1 and 2 are both named 'a'; allowed: distinct names"},
};

TEST(DelimitedText, ReadsOddInputs) {
  for (const Case& test : kGood) EXPECT_EQ(Parse(test.text), test.rows) << test.text;
}

TEST(DelimitedText, SaysWhatIsWrongAndWhere) {
  for (const auto& [text, error] : kBad)
    EXPECT_EQ(Parse(text), (std::vector<Row>{{error}})) << text;
}

TEST(DelimitedText, BlocksMakeNoDifference) {
  std::vector<std::string> texts;
  for (const Case& test : kGood) texts.push_back(test.text);
  for (const auto& [text, error] : kBad) texts.push_back(text);
  for (const std::string& text : texts) {
    const std::vector<Row> whole = Parse(text);
    for (std::size_t block = 1; block <= 17; ++block) {
      EXPECT_EQ(Parse(text, {.block_bytes = block}, text.size()), whole) << block << '\n' << text;
      EXPECT_EQ(Parse(text, {}, block), whole) << block << '\n' << text;
    }
  }
}

TEST(DelimitedText, ReadsTabs) {
  EXPECT_EQ(Parse("a\tb\n1,5\t\"2\t3\"\n", '\t'), (std::vector<Row>{{"a", "b"}, {"1,5", "2\t3"}}));
}

// Fields as a writer quotes them, whatever is in them, come back.
TEST(DelimitedText, RandomFieldsComeBack) {
  const std::vector<std::string> parts = {"a",  "\"", ",",   "\n",       "\r\n",
                                          "\r", " ",  "1.5", "\xC3\xA4", ""};
  std::mt19937 random(11);
  const auto draw = [&](std::size_t below) { return random() % below; };
  for (int repeat = 0; repeat < 60; ++repeat) {
    const std::size_t columns = 1 + draw(4), rows = 1 + draw(5);
    std::vector<Row> expected;
    std::string text;
    for (std::size_t i = 0; i <= rows; ++i) {
      Row& row = expected.emplace_back();
      for (std::size_t j = 0; j < columns; ++j) {
        std::string field = i == 0 ? "c" + std::to_string(j) : "";
        for (std::size_t part = draw(5); part > 0; --part) field += parts[draw(parts.size())];
        std::string quoted = "\"";
        for (const char c : field) quoted += c == '"' ? "\"\"" : std::string(1, c);
        const bool needs_quotes =
            field.find_first_of("\",\r\n") != std::string::npos || field.empty();
        text += (j > 0 ? "," : "") + (needs_quotes || draw(3) == 0 ? quoted + '"' : field);
        row.push_back(std::move(field));
      }
      if (i < rows || draw(2) == 0) text += draw(2) == 0 ? "\n" : "\r\n";
    }
    for (std::size_t block = 1; block <= 17; ++block) {
      EXPECT_EQ(Parse(text, {.block_bytes = block}, 1 + draw(9)), expected) << text;
    }
  }
}

TEST(DelimitedText, ReadsBigFields) {
  std::string big(3'000'000, 'x');
  for (std::size_t i = 0; i < big.size(); i += 1000) big[i] = '\n';
  const std::string text = "a,b\n1,\"" + big + "\"\n2,y\n";
  const auto rows = Parse(text, {.block_bytes = 1000}, text.size());
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1][1], big);
  EXPECT_EQ(rows[2], (Row{"2", "y"}));
}

TEST(DelimitedText, RowsMayBeTooLong) {
  const std::string text = "a,b\n1,\"" + std::string(5000, 'x');
  const auto rows = Parse(text, {.block_bytes = 100, .max_row_bytes = 1000}, text.size());
  EXPECT_TRUE(rows[0][0].starts_with("'x', line 2, column 1: the row has more than 1000 bytes"))
      << rows[0][0];
}

TEST(DelimitedText, KnowsTheLineOfARow) {
  TextView source("a,b\n\n\"1\n\n\",2\n3,4\n");
  DelimitedText reader(source);
  ASSERT_TRUE(reader.NextRow());
  EXPECT_EQ(reader.line(), 3U);
  ASSERT_TRUE(reader.NextRow());  // fields that are not taken are skipped
  EXPECT_EQ(reader.line(), 6U);
  EXPECT_EQ(reader.NextField(), "3");
  EXPECT_FALSE(reader.NextRow());
  EXPECT_FALSE(reader.NextRow());
}

TEST(DelimitedText, TakesNumbersAndLeavesTexts) {
  TextView source("a,b,c,d,e,f\n-1.5,2x,,nan,inf,7e2\n");
  DelimitedText reader(source);
  ASSERT_TRUE(reader.NextRow());
  double value = 0.0;
  ASSERT_TRUE(reader.TakeNumber(value));
  EXPECT_EQ(value, -1.5);
  EXPECT_FALSE(reader.TakeNumber(value));
  EXPECT_EQ(reader.NextField(), "2x");
  EXPECT_FALSE(reader.TakeNumber(value));
  EXPECT_EQ(reader.NextField(), "");
  EXPECT_FALSE(reader.TakeNumber(value));
  EXPECT_EQ(reader.NextField(), "nan");
  ASSERT_TRUE(reader.TakeNumber(value));
  EXPECT_TRUE(std::isinf(value));
  ASSERT_TRUE(reader.TakeNumber(value));
  EXPECT_EQ(value, 700.0);
  EXPECT_FALSE(reader.TakeNumber(value));
}

TEST(DelimitedText, NumbersAreThoseOfStrtod) {
  std::mt19937 random(8);
  Row texts = {"0",
               "-0",
               "1.",
               ".5",
               "-.5",
               "123456789012345",
               "9007199254740993",
               "0.000000000000001",
               "0.1000000000000000055511151231257827",
               "7e-3",
               "00.50"};
  for (int i = 0; i < 20'000; ++i) {
    std::string text = random() % 2 == 0 ? "-" : "";
    for (std::size_t n = random() % 10; n > 0; --n) text += std::to_string(random() % 10);
    text += std::to_string(random() % 10) + '.';
    for (std::size_t n = random() % 10; n > 0; --n) text += std::to_string(random() % 10);
    texts.push_back(text);
  }
  std::string all = "x\n";
  for (const std::string& text : texts) all += text + '\n';
  TextView source(all);
  DelimitedText reader(source);
  for (const std::string& text : texts) {
    ASSERT_TRUE(reader.NextRow());
    double value = 0.0;
    ASSERT_TRUE(reader.TakeNumber(value)) << text;
    const double expected = std::strtod(text.c_str(), nullptr);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(expected)) << text;
  }
}

TEST(DelimitedText, ChecksOptions) {
  for (const char delimiter : {'"', '\n', '\r', '\0', '.', '-', '+', '5', 'e', '\x80'}) {
    EXPECT_THROW(Validate(DelimitedOptions{.delimiter = delimiter}), std::invalid_argument);
  }
  for (const char delimiter : {',', ';', '|', '\t', ' ', ':'}) {
    EXPECT_NO_THROW(Validate(DelimitedOptions{.delimiter = delimiter}));
  }
  EXPECT_THROW(Validate(DelimitedOptions{.block_bytes = 0}), std::invalid_argument);
  EXPECT_THROW(Validate(DelimitedOptions{.max_row_bytes = 0}), std::invalid_argument);
}

TEST(DelimiterOf, GoesByTheName) {
  EXPECT_EQ(DelimiterOf("x.csv"), ',');
  EXPECT_EQ(DelimiterOf("x.csv.gz"), ',');
  EXPECT_EQ(DelimiterOf("x.tsv"), '\t');
  EXPECT_EQ(DelimiterOf("x.tab.xz"), '\t');
  EXPECT_EQ(DelimiterOf("x"), ',');
}

}  // namespace
}  // namespace bregboost
