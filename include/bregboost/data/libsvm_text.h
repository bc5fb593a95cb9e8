// Sparse rows of LibSVM text, `label index:value index:value ...`, out of text that comes in
// blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bregboost/data/table.h"
#include "bregboost/data/text_file.h"

namespace bregboost {

// Compressed rows: row i holds entries row_offsets[i] to row_offsets[i + 1].
struct SparseTable {
  std::string source;
  TableColumn label;  // named "label"; numeric or categorical, as asked
  std::vector<std::int64_t> row_offsets = {0};
  std::vector<std::int32_t> column_indices;
  std::vector<double> values;  // NaN is missing
  std::size_t num_columns = 0;

  std::size_t num_rows() const { return row_offsets.size() - 1; }
};

struct LibsvmOptions {
  ColumnKind label = ColumnKind::kCategorical;
  // Entries of columns beyond are left out: those of a trained model. 0: as many as the text has.
  std::size_t num_columns = 0;
  std::size_t block_bytes = std::size_t{1} << 18;  // read at a time, at least 1
};

inline constexpr std::int32_t kMaxLibsvmIndex = (std::int32_t{1} << 24) - 1;

// Nothing in the format tells whether indices count from 0 or from 1, and files of both kinds are
// about, so an index is taken as it is written: column 7 is `7:`, whatever the file, and in a file
// that counts from 1 column 0 has no entries. A column's name is its index.
//
// Labels are finite numbers; as classes they keep their text. Indices rise within a row. What
// follows a # is a comment, and a line with nothing else is skipped. Throws std::invalid_argument
// with source, line and column for anything else, `qid:` included: groups of queries are for
// ranking.
SparseTable ReadLibsvm(TextSource& source, const LibsvmOptions& options = {});
SparseTable ReadLibsvm(const std::string& path, const LibsvmOptions& options = {});

// Whether the name, compression aside, ends in .libsvm, .svmlight or .svm.
bool IsLibsvmName(std::string_view path);

}  // namespace bregboost
