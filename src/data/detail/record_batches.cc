#include "data/detail/record_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <stdexcept>

#include "data/detail/place.h"

namespace bregboost::detail {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::uint64_t NumLineBreaks(std::string_view text) {
  std::uint64_t count = 0;
  for (std::size_t at = text.find('\n'); at != std::string_view::npos;
       at = text.find('\n', at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace

RecordBatches::RecordBatches(TextSource& source, std::size_t block_bytes,
                             std::size_t max_record_bytes, char quote)
    : source_(source),
      block_bytes_(std::max(block_bytes, kByteOrderMark.size())),
      max_record_bytes_(max_record_bytes),
      quote_(quote) {}

bool RecordBatches::Next(RecordBatch& batch) {
  batch.size = 0;
  if (is_last_) return false;
  batch.bytes.resize(std::max(batch.bytes.size(), rest_.size() + block_bytes_ + 1));
  std::copy(rest_.begin(), rest_.end(), batch.bytes.begin());
  batch.size = rest_.size();
  batch.first_line = next_line_;
  Fill(batch);
  std::size_t end = EndOfRecords({batch.begin(), batch.size});
  while (end == 0 && !is_last_) {
    if (batch.size >= max_record_bytes_) {
      throw std::invalid_argument(fmt::format(
          "{}: the row has more than {} bytes{}; allowed: at most so many",
          Place(source_.name(), next_line_, /*column=*/std::uint64_t{1}), max_record_bytes_,
          quote_ == kNoQuotes ? "" : ", as if a quote was never closed"));
    }
    // Room for as much again keeps the cost of looking at a long record from its start linear.
    batch.bytes.resize(2 * batch.bytes.size());
    Fill(batch);
    end = EndOfRecords({batch.begin(), batch.size});
  }
  if (is_last_) end = batch.size;  // nothing is left for another batch
  rest_.assign(batch.begin() + end, batch.begin() + batch.size);
  batch.size = end;
  batch.bytes[end] = '\n';
  next_line_ += NumLineBreaks({batch.begin(), end});
  return end > 0;
}

// Until the memory of the batch is full or the text ends.
void RecordBatches::Fill(RecordBatch& batch) {
  while (!is_last_ && batch.size + 1 < batch.bytes.size()) {
    const std::size_t room = batch.bytes.size() - 1 - batch.size;
    const std::size_t size = source_.Read(std::span(batch.bytes).subspan(batch.size, room));
    is_last_ = size == 0;
    batch.size += size;
  }
  if (!is_first_) return;
  is_first_ = false;
  if (!std::string_view(batch.begin(), batch.size).starts_with(kByteOrderMark)) return;
  std::copy(batch.begin() + kByteOrderMark.size(), batch.begin() + batch.size, batch.begin());
  batch.size -= kByteOrderMark.size();
}

// Behind the last line break that is in no quotes; 0 if there is none.
std::size_t RecordBatches::EndOfRecords(std::string_view text) const {
  std::size_t end = 0, start = 0;
  for (bool is_quoted = false;; is_quoted = !is_quoted) {
    const std::size_t quote = text.find(quote_, start);
    if (!is_quoted) {
      const std::size_t line_break = text.substr(start, quote - start).rfind('\n');
      if (line_break != std::string_view::npos) end = start + line_break + 1;
    }
    if (quote == std::string_view::npos) return end;
    start = quote + 1;
  }
}

}  // namespace bregboost::detail
