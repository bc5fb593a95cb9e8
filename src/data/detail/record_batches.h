// A text cut into batches of whole records, so that each can be parsed on its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bregboost/data/text_file.h"

namespace bregboost::detail {

struct RecordBatch {
  std::vector<char> bytes;  // those of the records, then a '\n' at end(), then anything
  std::size_t size = 0;     // of the records
  std::uint64_t first_line = 1;

  char* begin() { return bytes.data(); }
  const char* begin() const { return bytes.data(); }
  const char* end() const { return bytes.data() + size; }
};

// A record ends at a line break with an even number of quotes before it, for quotes within quoted
// fields are doubled. Text that breaks this rule leads to longer batches, in which the parser finds
// what is wrong.
class RecordBatches {
 public:
  static constexpr char kNoQuotes = '\0';  // no text that is read has it

  // `source` must outlive this. A batch has about `block_bytes`, more if a record does. A UTF-8
  // byte order mark is skipped.
  RecordBatches(TextSource& source, std::size_t block_bytes, std::size_t max_record_bytes,
                char quote);

  // False at the end of the text. Reuses the memory of `batch`. Throws std::invalid_argument if a
  // record is longer than allowed.
  bool Next(RecordBatch& batch);

 private:
  void Fill(RecordBatch& batch);
  std::size_t EndOfRecords(std::string_view text) const;

  TextSource& source_;
  std::size_t block_bytes_, max_record_bytes_;
  char quote_;
  std::vector<char> rest_;  // behind the last whole record
  std::uint64_t next_line_ = 1;
  bool is_first_ = true, is_last_ = false;
};

}  // namespace bregboost::detail
