// CSV and TSV: tables do not depend on how the text is cut into blocks, and row by row reading
// finds the same as reading whole columns.
#include <bit>
#include <cmath>
#include <stdexcept>

#include "bregboost/data/delimited_text.h"
#include "bregboost/data/table.h"
#include "data/detail/number_field.h"
#include "fuzz_target.h"

namespace {

using namespace bregboost;  // NOLINT: a program
using fuzz::Require;

bool SameNumber(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool SameColumn(const TableColumn& a, const TableColumn& b) {
  if (a.values.size() != b.values.size()) return false;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (!SameNumber(a.values[i], b.values[i])) return false;
  }
  return a.name == b.name && a.kind == b.kind && a.codes == b.codes && a.levels == b.levels &&
         a.first_missing_line == b.first_missing_line && a.first_text_line == b.first_text_line &&
         a.first_text == b.first_text;
}

void CheckSame(const Table& a, const Table& b) {
  Require(a.num_rows == b.num_rows, "blocks do not change the number of rows");
  Require(a.columns.size() == b.columns.size(), "blocks do not change the columns");
  for (std::size_t j = 0; j < a.columns.size(); ++j) {
    Require(SameColumn(a.columns[j], b.columns[j]), "blocks do not change a column");
  }
}

// What is read, or what is said of the text.
struct Outcome {
  Table table;
  std::string error;
};

Outcome Read(std::string_view text, char delimiter, std::size_t block_bytes) {
  TextView source(text);
  Outcome outcome;
  try {
    outcome.table = ReadTable(source, {.delimiter = delimiter, .block_bytes = block_bytes});
  } catch (const std::invalid_argument& error) {
    outcome.error = error.what();
    Require(!outcome.error.empty(), "errors say what is wrong");
  }
  return outcome;
}

// Rows of the text, read field by field, with numbers taken by the quick way where there is one.
std::size_t CountRows(std::string_view text, const DelimitedOptions& options) {
  TextView plain_source(text), quick_source(text);
  DelimitedText plain(plain_source, options), quick(quick_source, options);
  std::size_t rows = 0;
  for (; plain.NextRow(); ++rows) {
    Require(quick.NextRow(), "both readers have the same rows");
    Require(plain.line() == quick.line(), "both readers have the same lines");
    for (std::size_t j = 0; j < plain.header().size(); ++j) {
      const std::string_view field = plain.NextField();
      double value = 0.0;
      if (!quick.TakeNumber(value)) {
        Require(quick.NextField() == field, "both readers have the same fields");
        continue;
      }
      const std::optional<double> number = detail::ParseNumberField(field);
      Require(number && SameNumber(*number, value), "both ways to read a number agree");
    }
  }
  return rows;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::TextOf(data, size);
  const char delimiter = text.find('\t') == std::string_view::npos ? ',' : '\t';
  // Larger than most inputs, and quicker to clear than the default.
  const Outcome whole = Read(text, delimiter, /*block_bytes=*/4096);
  const Outcome blocks = Read(text, delimiter, /*block_bytes=*/7);
  Require(whole.error.empty() == blocks.error.empty(), "blocks do not change what is an error");
  if (whole.error.empty()) CheckSame(whole.table, blocks.table);
  try {
    const std::size_t rows = CountRows(text, {.delimiter = delimiter, .block_bytes = 5});
    Require(whole.error.empty(), "what is read row by row is read whole");
    Require(rows == whole.table.num_rows, "row by row there are as many rows");
  } catch (const std::invalid_argument&) {
    Require(!whole.error.empty(), "what is read whole is read row by row");
  }
  return 0;
}
