#include "bregboost/data/libsvm_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bregboost {
namespace {

using Texts = std::vector<std::string>;

SparseTable Read(const std::string& text, const LibsvmOptions& options = {},
                 std::size_t source_block = 1000) {
  TextView source(text, "x", source_block);
  return ReadLibsvm(source, options);
}

const std::string kText =
    "# a comment\n"
    "+1 1:0.5 3:-2e1\t7:1 # rows may end in one\r\n"
    "\n"
    "-1\n"
    "+1  0:nan 2:+4  \n"
    "-1 3:.5";

TEST(ReadLibsvm, TakesIndicesAsWritten) {
  const SparseTable table = Read(kText);
  EXPECT_EQ(table.num_rows(), 4U);
  EXPECT_EQ(table.num_columns, 8U);
  EXPECT_EQ(table.row_offsets, (std::vector<std::int64_t>{0, 3, 3, 5, 6}));
  EXPECT_EQ(table.column_indices, (std::vector<std::int32_t>{1, 3, 7, 0, 2, 3}));
  ASSERT_EQ(table.values.size(), 6U);
  EXPECT_EQ(table.values[0], 0.5);
  EXPECT_EQ(table.values[1], -20.0);
  EXPECT_EQ(table.values[2], 1.0);
  EXPECT_TRUE(std::isnan(table.values[3]));
  EXPECT_EQ(table.values[4], 4.0);
  EXPECT_EQ(table.values[5], 0.5);
  EXPECT_EQ(table.label.levels, (Texts{"-1", "+1"}));
  EXPECT_EQ(table.label.codes, (std::vector<std::int32_t>{1, 0, 1, 0}));
}

TEST(ReadLibsvm, LabelsMayBeTargets) {
  const SparseTable table = Read("1.5 1:1\n-2 1:2\n", {.label = ColumnKind::kNumeric});
  EXPECT_EQ(table.label.values, (std::vector<double>{1.5, -2.0}));
}

TEST(ReadLibsvm, LeavesOutColumnsThatTheModelDoesNotHave) {
  const SparseTable table = Read("1 0:1 2:3 9:4\n0 9:5\n", {.num_columns = 4});
  EXPECT_EQ(table.num_columns, 4U);
  EXPECT_EQ(table.row_offsets, (std::vector<std::int64_t>{0, 2, 2}));
  EXPECT_EQ(table.column_indices, (std::vector<std::int32_t>{0, 2}));
}

TEST(ReadLibsvm, SaysWhatIsWrongAndWhere) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"1 1:2\nyes 1:2\n", "'x', line 2, column 1: label 'yes'; allowed: a finite number"},
      {"nan 1:2\n", "'x', line 1, column 1: label 'nan'; allowed: a finite number"},
      {"1,2 1:2\n", "'x', line 1, column 1: label '1,2'; allowed: a finite number"},
      {"1:2 2:3\n", "'x', line 1, column 1: label '1:2'; allowed: a finite number"},
      {"1 1:2 3\n", "'x', line 1, column 7: '3'; allowed: index:value"},
      {"1 qid:3 1:2\n",
       "'x', line 1, column 3: 'qid', queries of a ranking task; allowed: index:value alone"},
      {"1 -1:2\n", "'x', line 1, column 3: index '-1'; allowed: whole numbers from 0 to 16777215"},
      {"1 x:2\n", "'x', line 1, column 3: index 'x'; allowed: whole numbers from 0 to 16777215"},
      {"1 :2\n", "'x', line 1, column 3: index ''; allowed: whole numbers from 0 to 16777215"},
      {"1 1.5:2\n",
       "'x', line 1, column 3: index '1.5'; allowed: whole numbers from 0 to 16777215"},
      {"1 16777216:2\n",
       "'x', line 1, column 3: index '16777216'; allowed: whole numbers from 0 to 16777215"},
      {"1 99999999999:2\n",
       "'x', line 1, column 3: index '99999999999'; allowed: whole numbers from 0 to 16777215"},
      {"1 2:1 2:1\n",
       "'x', line 1, column 7: index 2 behind 2; allowed: indices that rise within a row"},
      {"1 3:1 2:1\n",
       "'x', line 1, column 7: index 2 behind 3; allowed: indices that rise within a row"},
      {"1 2:\n", "'x', line 1, column 5: value ''; allowed: a number"},
      {"1 2:x\n", "'x', line 1, column 5: value 'x'; allowed: a number"},
      {"1 2:1:3\n", "'x', line 1, column 5: value '1:3'; allowed: a number"},
      {"# nothing\n\n", "'x': no rows; allowed: at least one"},
  };
  for (const auto& [text, expected] : cases) {
    for (const std::size_t block : {1U, 2U, 3U, 1000U}) {
      try {
        Read(text, {.block_bytes = block}, block);
        ADD_FAILURE() << text;
      } catch (const std::invalid_argument& error) {
        EXPECT_EQ(error.what(), expected);
      }
    }
  }
}

TEST(ReadLibsvm, BlocksMakeNoDifference) {
  const SparseTable whole = Read(kText);
  for (std::size_t block = 1; block <= 17; ++block) {
    const SparseTable table = Read(kText, {.block_bytes = block}, 18 - block);
    EXPECT_EQ(table.row_offsets, whole.row_offsets);
    EXPECT_EQ(table.column_indices, whole.column_indices);
    EXPECT_EQ(table.label.codes, whole.label.codes);
    EXPECT_EQ(table.values.back(), whole.values.back());
  }
}

TEST(IsLibsvmName, GoesByTheEnding) {
  EXPECT_TRUE(IsLibsvmName("a.libsvm"));
  EXPECT_TRUE(IsLibsvmName("a.svmlight.gz"));
  EXPECT_TRUE(IsLibsvmName("a.svm.zst"));
  EXPECT_FALSE(IsLibsvmName("a.csv"));
  EXPECT_FALSE(IsLibsvmName("libsvm"));
}

}  // namespace
}  // namespace bregboost
