// Tables with a column per name, each of numbers or of categories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bregboost/data/text_file.h"

namespace bregboost {

enum class ColumnKind { kNumeric, kCategorical };

// "numeric", "categorical"
std::string_view Name(ColumnKind kind);

inline constexpr std::int32_t kMissingCode = -1;

struct TableColumn {
  std::string name;
  ColumnKind kind = ColumnKind::kNumeric;
  std::vector<double> values;       // of a numeric column; NaN is missing
  std::vector<std::int32_t> codes;  // of a categorical one: into `levels`, or kMissingCode
  // Distinct texts exactly as written, so "1" and "1.0" are two: in numeric order if all of them
  // are numbers, else in byte order, whatever the order of the rows.
  std::vector<std::string> levels;

  // Lines for error messages, 0 for none: of the first value that is missing, and of the first that
  // is no number where the kind was inferred from it.
  std::uint64_t first_missing_line = 0, first_text_line = 0;
  std::string first_text;
};

struct Table {
  std::string source;  // what it was read from, for error messages
  std::size_t num_rows = 0;
  std::vector<TableColumn> columns;  // as in the file
};

struct TableOptions {
  // Columns whose values are texts, however they look.
  std::vector<std::string> categorical;
  // Columns in which text is an error. Those in neither list are numeric if all their values are.
  std::vector<std::string> numeric;
  std::vector<std::string> drop;  // not read
  std::vector<std::string> only;  // if any, no others are read; of these none may lack
  // Spellings of a missing value, in all columns. Spaces around them and around numbers do not
  // count; in a category they do.
  std::vector<std::string> missing = {"", "NA", "?", "NaN", "nan", "null", "NULL", "N/A"};
  std::optional<char> delimiter;                   // by the source's name if not given
  std::size_t block_bytes = std::size_t{1} << 20;  // parsed by a thread at a time, at least 1
};

// One pass over the text, which keeps the numbers of a column and no texts as long as all are
// numbers. Where text follows upon numbers (rare: most columns show what they are in the first row)
// a second pass reads the texts of these columns alone: that costs the usual file nothing, whereas
// texts kept in case they are needed would cost every file their memory. Large texts are parsed on
// OpenMP's number of threads, at most 8; the result does not depend on it.
//
// Throws std::invalid_argument with the source's name, and the line and column where there is one:
// see DelimitedText for malformed text; text in a column of `numeric`; names that the header lacks,
// with those that are near; names in two lists that contradict each other.
Table ReadTable(TextSource& source, const TableOptions& options = {});
Table ReadTable(const std::string& path, const TableOptions& options = {});

// Throws std::invalid_argument, with names that are near, if there is none.
const TableColumn& ColumnOf(const Table& table, std::string_view name);

}  // namespace bregboost
