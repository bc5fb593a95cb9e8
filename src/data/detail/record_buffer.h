// The part of a text that is being read: parsers look at the bytes up to end(), ask for More() when
// a record does not end there, and Consume() it when they are done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bregboost/data/text_file.h"

namespace bregboost::detail {

// Memory is one block, or twice the longest record if that is longer.
class RecordBuffer {
 public:
  // Skips a UTF-8 byte order mark. `source` must outlive the buffer.
  RecordBuffer(TextSource& source, std::size_t block_bytes, std::size_t max_record_bytes);

  // Unread bytes. A '\n' follows them, so that parsers may look at *end().
  char* begin() { return buffer_.data() + begin_; }
  char* end() { return buffer_.data() + end_; }

  // Whether nothing follows end().
  bool is_last() const { return is_last_; }

  // Reads on behind end(), which moves the bytes. Must not be called when is_last(). Throws
  // std::invalid_argument if the record is longer than allowed; it begins in `line`.
  void More(std::uint64_t line);

  void Consume(std::size_t bytes) { begin_ += bytes; }

 private:
  void Fill();
  std::size_t capacity() const { return buffer_.size() - 1; }

  TextSource& source_;
  std::size_t max_record_bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  bool is_last_ = false;
};

}  // namespace bregboost::detail
