// Tables as the learners take them: every feature a number, in the order of the model.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bregboost/data/column_encoding.h"
#include "bregboost/data/feature_array.h"
#include "bregboost/data/libsvm_text.h"
#include "bregboost/data/table.h"

namespace bregboost {

// Texts of a categorical column that the training rows did not have.
struct UnseenCategories {
  std::string column;
  std::size_t rows = 0;  // that hold any of them
  std::string example;

  // One sentence, to warn of them.
  std::string text() const;
};

struct EncodedTable {
  std::size_t num_rows = 0;
  std::vector<double> values;  // column after column; codes of categories; NaN is missing
  std::vector<std::string> names;
  std::vector<std::size_t> categorical;  // columns of codes 0, 1, 2, ...
  std::vector<UnseenCategories> unseen;  // columns that have them; there the value is missing
};

// Finds columns by their names: their order in the table does not matter, and neither do others.
// Takes the table apart column by column, so that memory holds little more than one copy.
// Throws std::invalid_argument for a column that is not there, with names that are near; for text
// in a numeric column, with its line; for a categorical column that was read as numbers, whose
// texts are gone (see ReadingOptions).
EncodedTable Encode(Table table, const ColumnEncoding& encoding);

// Views with names and categorical columns, for data sets of LightGBM and XGBoost. The tables must
// outlive them. Of a sparse table, what is absent is 0 to LightGBM and missing to XGBoost.
FeatureArray FeaturesOf(const EncodedTable& table);
FeatureArray FeaturesOf(const SparseTable& table);

// Linear models take numbers only, and none missing. Throws std::invalid_argument with source, line
// and column of the first feature that is anything else.
void CheckForLinear(const Table& table, const ColumnEncoding& encoding);

}  // namespace bregboost
