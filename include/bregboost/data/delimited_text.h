// Rows of CSV and TSV, as RFC 4180 has them, out of text that comes in blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bregboost/data/text_file.h"

namespace bregboost {

struct DelimitedOptions {
  // ASCII, but nothing that numbers, lines or quotes are made of: a comma, a tab, ; | ...
  char delimiter = ',';
  std::size_t block_bytes = std::size_t{1} << 18;    // read at a time, at least 1
  std::size_t max_row_bytes = std::size_t{1} << 30;  // at least 1; the memory that a row may take
};

// Throws std::invalid_argument naming the field.
void Validate(const DelimitedOptions& options);

// A tab for names that end in .tsv or .tab, a comma for all others; compression aside.
char DelimiterOf(std::string_view path);

// The first line is the header: names that are distinct and not empty. Lines end in LF or CR LF,
// the last one in nothing if it likes; a field in double quotes may hold delimiters, line breaks
// and, doubled, quotes. Lines that are empty are skipped, so the missing value of a table with one
// column is written "". Spaces are part of the fields.
//
// What does not follow these rules is a std::invalid_argument with source, line and column: another
// number of fields than the header's, text behind a closing quote, a quote within a field that does
// not begin with one or that is never closed, a CR alone, no row below the header.
class DelimitedText {
 public:
  // Reads the header. `source` must outlive the reader.
  explicit DelimitedText(TextSource& source, const DelimitedOptions& options = {});
  ~DelimitedText();

  const std::vector<std::string>& header() const { return header_; }

  // Goes to the next row; false at the end of the text. Fields of the row before that were not
  // taken are skipped.
  bool NextRow();

  // Takes the row's next field, which is valid until NextRow(). A row has as many as the header.
  std::string_view NextField();

  // Takes the next field if it is a number, as it stands and not NaN, which is quicker than to find
  // where the field ends and then to read it. Else leaves the field.
  bool TakeNumber(double& value);

  // Where the row begins, from 1.
  std::uint64_t line() const;

 private:
  struct State;

  std::unique_ptr<State> state_;
  std::vector<std::string> header_;
};

}  // namespace bregboost
