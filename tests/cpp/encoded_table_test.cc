#include "bregboost/data/encoded_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "error_text.h"

namespace bregboost {
namespace {

using testing::ErrorOf;

Table Read(const std::string& text, const TableOptions& options = {}) {
  TextView source(text, "new.csv");
  return ReadTable(source, options);
}

const std::string kTraining = "age,colour,y\n1,red,0\n2,blue,1\nNA,?,1\n";
const RowColumns kLabel{.label = "y"};

ColumnEncoding Trained() {
  return MakeEncoding(Read(kTraining, WithRowColumns({}, kLabel)), kLabel);
}

EncodedTable EncodeNew(const std::string& text) {
  return Encode(Read(text, ReadingOptions(Trained())), Trained());
}

TEST(Encode, TrainingRows) {
  const EncodedTable table = Encode(Read(kTraining), Trained());
  EXPECT_EQ(table.num_rows, 3U);
  EXPECT_EQ(table.names, (std::vector<std::string>{"age", "colour"}));
  EXPECT_EQ(table.categorical, (std::vector<std::size_t>{1}));
  ASSERT_EQ(table.values.size(), 6U);
  EXPECT_EQ(table.values[0], 1.0);
  EXPECT_EQ(table.values[1], 2.0);
  EXPECT_TRUE(std::isnan(table.values[2]));
  EXPECT_EQ(table.values[3], 1.0);  // red
  EXPECT_EQ(table.values[4], 0.0);  // blue
  EXPECT_TRUE(std::isnan(table.values[5]));
  EXPECT_TRUE(table.unseen.empty());
}

TEST(Encode, TheOrderOfColumnsAndOtherColumnsDoNotMatter) {
  const EncodedTable table = EncodeNew("junk,colour,more,age\nx,blue,1,7\ny,red,2,8\n");
  EXPECT_EQ(table.values, (std::vector<double>{7, 8, 0, 1}));
}

TEST(Encode, CodesAreThoseOfTheTrainingRows) {
  EXPECT_EQ(EncodeNew("age,colour\n1,red\n").values, (std::vector<double>{1, 1}));
}

TEST(Encode, UnseenCategoriesAreMissingAndCounted) {
  const EncodedTable table = EncodeNew("age,colour\n1,green\n2,red\n3,pink\n4,\n5,green\n6,Red\n");
  for (const std::size_t row : {0U, 2U, 3U, 4U, 5U}) EXPECT_TRUE(std::isnan(table.values[6 + row]));
  EXPECT_EQ(table.values[7], 1.0);
  ASSERT_EQ(table.unseen.size(), 1U);
  EXPECT_EQ(table.unseen[0].column, "colour");
  EXPECT_EQ(table.unseen[0].rows, 4U);
  EXPECT_EQ(table.unseen[0].text(),
            "column 'colour': 4 row(s) with categories that the training rows do not have, such as "
            "'Red', are taken as missing");
}

TEST(Encode, ColumnsThatAreMissingAreErrors) {
  EXPECT_EQ(ErrorOf([] { EncodeNew("agee,colour\n1,red\n"); }),
            "'new.csv' has no column 'age'; did you mean 'agee'?");
  EXPECT_EQ(ErrorOf([] { Encode(Read("agee,colour\n1,red\n"), Trained()); }),
            "'new.csv' has no column 'age'; did you mean 'agee'?");
}

TEST(Encode, TextInANumericColumnIsAnError) {
  const std::string text = "age,colour\n1,red\nold,red\n";
  EXPECT_EQ(ErrorOf([&] { EncodeNew(text); }),
            "'new.csv', line 3, column 'age': 'old'; allowed: numbers");
  EXPECT_EQ(ErrorOf([&] { Encode(Read(text), Trained()); }),
            "'new.csv', line 3, column 'age': 'old'; allowed: numbers, as in the training rows");
}

TEST(Encode, CategoriesThatWereReadAsNumbersAreAnError) {
  const std::string text = "age,colour\n1,1\n2,2\n";
  EXPECT_EQ(EncodeNew(text).unseen[0].rows, 2U);
  EXPECT_EQ(ErrorOf([&] { Encode(Read(text), Trained()); }),
            "'new.csv', column 'colour': read as numbers; allowed: categories, as in the training "
            "rows");
  ColumnEncoding sparse;
  sparse.sparse_columns = 3;
  EXPECT_NE(ErrorOf([&] { Encode(Read(text), sparse); }).find("LibSVM"), std::string::npos);
}

TEST(FeaturesOf, LooksAtTheTable) {
  const EncodedTable table = EncodeNew("age,colour\n1,red\n2,blue\n");
  const FeatureArray features = FeaturesOf(table);
  EXPECT_NO_THROW(Validate(features));
  EXPECT_EQ(features.layout, FeatureArray::Layout::kColumnMajor);
  EXPECT_EQ(features.values, table.values.data());
  EXPECT_EQ(features.rows, 2U);
  EXPECT_EQ(features.columns, 2U);
  EXPECT_EQ(features.names, table.names);
  EXPECT_EQ(features.categorical, table.categorical);
}

TEST(FeaturesOf, SparseTables) {
  TextView source("1 1:5 3:6\n0 2:7\n");
  const SparseTable table = ReadLibsvm(source);
  const FeatureArray features = FeaturesOf(table);
  EXPECT_NO_THROW(Validate(features));
  EXPECT_EQ(features.layout, FeatureArray::Layout::kCsr);
  EXPECT_EQ(features.rows, 2U);
  EXPECT_EQ(features.names, (std::vector<std::string>{"0", "1", "2", "3"}));
}

TEST(CheckForLinear, WantsNumbersAndAllOfThem) {
  const auto check = [](const std::string& text, const TableOptions& options = {}) {
    const Table table = Read(text, options);
    return ErrorOf([&] { CheckForLinear(table, MakeEncoding(table, {})); });
  };
  EXPECT_EQ(check("a,b\n1,2\n"), "no error");
  EXPECT_EQ(check("a,b\n1,2\n3,x\n"),
            "'new.csv', line 3, column 'b': 'x'; allowed in a linear model: numbers");
  EXPECT_EQ(check("a,b\n1,2\n", {.categorical = {"b"}}),
            "'new.csv', column 'b': categories; allowed in a linear model: numbers");
  EXPECT_EQ(check("a,b\n1,2\nNA,3\n"),
            "'new.csv', line 3, column 'a': missing; allowed in a linear model: a number in every "
            "row");
}

}  // namespace
}  // namespace bregboost
