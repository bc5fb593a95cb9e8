#include "data/detail/record_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "data/detail/place.h"

namespace bregboost::detail {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

RecordBuffer::RecordBuffer(TextSource& source, std::size_t block_bytes,
                           std::size_t max_record_bytes)
    : source_(source),
      max_record_bytes_(max_record_bytes),
      buffer_(std::max(block_bytes, kByteOrderMark.size()) + 1) {
  Fill();
  if (std::string_view(begin(), end_).starts_with(kByteOrderMark)) Consume(kByteOrderMark.size());
}

void RecordBuffer::More(std::uint64_t line) {
  const std::size_t unread = end_ - begin_;
  if (unread >= max_record_bytes_) {
    throw std::invalid_argument(
        fmt::format("{}: the row has more than {} bytes, as if a quote was never closed; allowed: "
                    "at most so many",
                    Place(source_.name(), line, /*column=*/std::uint64_t{1}), max_record_bytes_));
  }
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
            buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
  begin_ = 0;
  end_ = unread;
  // Room for as much again keeps the cost of looking at a long record from its start linear.
  if (capacity() < 2 * unread) buffer_.resize(2 * unread + 1);
  Fill();
}

void RecordBuffer::Fill() {
  while (!is_last_ && end_ < capacity()) {
    const std::size_t size = source_.Read(std::span(buffer_).subspan(end_, capacity() - end_));
    is_last_ = size == 0;
    end_ += size;
  }
  buffer_[end_] = '\n';
}

}  // namespace bregboost::detail
