// How the columns of the training rows became numbers: kept beside a model, so that rows to be
// predicted are encoded in the same way.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bregboost/data/libsvm_text.h"
#include "bregboost/data/table.h"
#include "bregboost/data/table_rows.h"

namespace bregboost {

struct FeatureEncoding {
  std::string name;
  ColumnKind kind = ColumnKind::kNumeric;
  std::vector<std::string> levels;  // of a categorical column: the texts of codes 0, 1, 2, ...
};

struct ColumnEncoding {
  std::vector<FeatureEncoding> features;  // of a table, in the model's order
  std::size_t sparse_columns = 0;         // of LibSVM text, which has no `features`
  std::string label;                      // column of the labels or the target; may be empty
  std::vector<std::string> classes;       // in the order of their codes; none for regression
  std::vector<std::string> missing = TableOptions().missing;  // spellings of a missing value
};

// Features are all columns but those of `columns`, in the order of the table, which was read with
// `missing`.
ColumnEncoding MakeEncoding(const Table& table, const RowColumns& columns,
                            const std::vector<std::string>& missing = TableOptions().missing);
ColumnEncoding MakeEncoding(const SparseTable& table);

// How to read a table that is to be encoded: the columns that the encoding and `columns` name and
// no others, each as the kind that it has to be. For prediction `columns` is empty.
TableOptions ReadingOptions(const ColumnEncoding& encoding, const RowColumns& columns = {});
LibsvmOptions LibsvmReadingOptions(const ColumnEncoding& encoding);

// Throws std::invalid_argument naming the field: neither features nor sparse columns, or both;
// names or levels that are empty or occur twice; levels of a numeric column.
void Validate(const ColumnEncoding& encoding);

// A JSON object with a version.
std::string ToJson(const ColumnEncoding& encoding);
// Throws std::invalid_argument naming the field, and Validate()s.
ColumnEncoding ColumnEncodingFromJson(std::string_view text);

}  // namespace bregboost
