#include "data/detail/batch_rows.h"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include "data/detail/place.h"

namespace bregboost::detail {
namespace {

const char* Find(char c, const char* begin, const char* end) {
  return static_cast<const char*>(std::memchr(begin, c, static_cast<std::size_t>(end - begin)));
}

// Digits with or without a sign and a point, few enough that their value and the power of ten below
// it are exact doubles, so that their quotient is rounded once, as Clinger (1990) shows. Where they
// end, or null for other spellings. Most numbers in tables are so short, and fast_float, which
// takes everything, needs half as long again. A byte that is no digit must follow the text.
const char* ReadShortDecimal(const char* at, double& value) {
  constexpr std::array<double, 16> kPowers = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool is_negative = *at == '-';
  if (is_negative) ++at;
  std::uint64_t digits = 0;
  const auto read_digits = [&digits](const char* from) {
    for (unsigned digit = 0; (digit = static_cast<unsigned char>(*from) - unsigned{'0'}) < 10;
         ++from) {
      digits = 10 * digits + digit;
    }
    return from;
  };
  const char* end = read_digits(at);
  std::ptrdiff_t count = end - at;
  std::ptrdiff_t decimals = 0;
  if (*end == '.') {
    const char* const point = end;
    end = read_digits(point + 1);
    decimals = end - point - 1;
    count += decimals;
  }
  if (count == 0 || count >= std::ssize(kPowers)) return nullptr;
  const double magnitude =
      static_cast<double>(digits) / kPowers[static_cast<std::size_t>(decimals)];
  value = is_negative ? -magnitude : magnitude;
  return end;
}

}  // namespace

void BatchRows::Start(RecordBatch& batch) {
  batch_ = &batch;
  record_ = next_record_ = batch.begin();
  line_ = next_line_ = batch.first_line;
  has_more_fields_ = false;
  fields_taken_ = num_fields_;
}

bool BatchRows::NextRow() {
  FinishRow();
  return NextRecord();
}

std::string_view BatchRows::NextField() {
  if (!has_more_fields_) FailFieldCount();
  ++fields_taken_;
  if (has_quotes_) {
    has_more_fields_ = fields_taken_ < fields_.size();
    return fields_[fields_taken_ - 1];
  }
  const char* const start = next_;
  const char* stop = Find(delimiter_, start, end_);
  has_more_fields_ = stop != nullptr;
  if (stop == nullptr) stop = end_;
  next_ = stop + 1;
  return {start, static_cast<std::size_t>(stop - start)};
}

bool BatchRows::TakeNumber(double& value) {
  if (has_quotes_ || !has_more_fields_) return false;
  const auto ends_field = [this](const char* at) { return at == end_ || *at == delimiter_; };
  const char* stop = ReadShortDecimal(next_, value);
  if (stop == nullptr || !ends_field(stop)) {
    const fast_float::from_chars_result result = fast_float::from_chars(next_, end_, value);
    if (result.ec != std::errc() || std::isnan(value) || !ends_field(result.ptr)) return false;
    stop = result.ptr;
  }
  const bool is_last = stop == end_;
  ++fields_taken_;
  has_more_fields_ = !is_last;
  next_ = stop + 1;
  return true;
}

void BatchRows::FinishRow() {
  if (num_fields_ == 0) return;
  while (has_more_fields_ && fields_taken_ <= num_fields_) NextField();
  if (fields_taken_ != num_fields_) FailFieldCount();
}

bool BatchRows::NextRecord() {
  do {
    record_ = next_record_;
    line_ = next_line_;
    if (record_ == batch_->end()) return false;
    FindRecord();
  } while (!has_quotes_ && next_ == end_);  // an empty line
  has_more_fields_ = true;
  fields_taken_ = 0;
  const bool has_other_count = num_fields_ != 0 && fields_.size() != num_fields_;
  if (has_quotes_ && has_other_count) FailFieldCount();  // before quotes move the bytes
  for (const std::size_t field : with_doubled_quotes_) MergeDoubledQuotes(fields_[field]);
  return true;
}

// Finds the end of the record.
void BatchRows::FindRecord() {
  const char* const line_break = Find('\n', record_, batch_->end());
  next_ = record_;
  end_ = line_break == nullptr ? batch_->end() : line_break;
  next_record_ = line_break == nullptr ? end_ : end_ + 1;
  next_line_ = line_ + 1;
  has_quotes_ = Find(kQuote, record_, end_) != nullptr;
  with_doubled_quotes_.clear();
  if (has_quotes_) return SplitQuoted();
  if (line_break != nullptr && end_ != record_ && end_[-1] == '\r') --end_;
  if (const char* const at = Find('\r', record_, end_)) {
    Fail(at, "a carriage return alone; allowed: lines that end in LF or CR LF");
  }
}

// The same for a record with quotes, which may go on behind its first line.
void BatchRows::SplitQuoted() {
  const char* const end = batch_->end();
  fields_.clear();
  const char* at = record_;
  for (;; ++at) {
    at = *at == kQuote ? SplitQuotedField(at) : SplitField(at);
    if (at == end || *at != delimiter_) break;
  }
  const char* const stop = at != end && *at == '\r' ? at + 1 : at;
  if (stop != at && (stop == end || *stop != '\n')) {
    Fail(at, "a carriage return alone; allowed: lines that end in LF or CR LF");
  }
  if (stop != end && *stop != '\n') {
    Fail(at, "text behind a closing quote; allowed: a delimiter or a line break");
  }
  next_record_ = stop == end ? stop : stop + 1;
}

// Where the field ends that begins at `at` without a quote.
const char* BatchRows::SplitField(const char* at) {
  const char* const start = at;
  const char* const end = batch_->end();
  while (at != end && *at != delimiter_ && *at != '\n' && *at != '\r') {
    if (*at == kQuote) {
      Fail(at,
           "a quote within a field; allowed: fields in quotes from their start, and quotes in "
           "them doubled");
    }
    ++at;
  }
  fields_.emplace_back(start, static_cast<std::size_t>(at - start));
  return at;
}

// `at` is the opening quote. Where the field ends, behind the closing one.
const char* BatchRows::SplitQuotedField(const char* at) {
  const char* const end = batch_->end();
  const char* const start = at + 1;
  bool has_doubled_quotes = false;
  const char* close = start;
  for (;;) {
    close = Find(kQuote, close, end);
    if (close == nullptr) Fail(at, "this quote is never closed; allowed: quotes in pairs");
    if (close + 1 == end || close[1] != kQuote) break;
    has_doubled_quotes = true;
    close += 2;
  }
  next_line_ += static_cast<std::uint64_t>(std::count(start, close, '\n'));
  if (has_doubled_quotes) with_doubled_quotes_.push_back(fields_.size());
  fields_.emplace_back(start, static_cast<std::size_t>(close - start));
  return close + 1;
}

// In place: the batch is ours, and the text only gets shorter.
void BatchRows::MergeDoubledQuotes(std::string_view& field) {
  char* const first = batch_->begin() + (field.data() - batch_->begin());
  char* write = first;
  for (std::size_t i = 0; i < field.size(); ++i) {
    *write++ = first[i];
    if (first[i] == kQuote) ++i;  // the second of the pair
  }
  field = {first, static_cast<std::size_t>(write - first)};
}

// At the end of a row with too few fields, at the first field that is too many otherwise.
void BatchRows::FailFieldCount() const {
  const std::size_t allowed = num_fields_;
  std::size_t count = fields_.size();
  const char* at = record_;
  if (has_quotes_) {
    at = count < allowed ? fields_.back().data() + fields_.back().size() : fields_[allowed].data();
  } else {
    count = static_cast<std::size_t>(std::count(at, end_, delimiter_)) + 1;
    for (std::size_t j = 0; j < std::min(count - 1, allowed); ++j) {
      at = Find(delimiter_, at, end_) + 1;
    }
    if (count < allowed) at = end_;
  }
  Fail(at, fmt::format("{} fields; allowed: {}, as in the header", count, allowed));
}

void BatchRows::Fail(const char* at, const std::string& message) const {
  const std::string_view before(record_, static_cast<std::size_t>(at - record_));
  const std::size_t last_break = before.rfind('\n');
  const std::string_view in_line =
      last_break == std::string_view::npos ? before : before.substr(last_break + 1);
  const auto breaks = static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n'));
  throw std::invalid_argument(
      fmt::format("{}: {}", Place(source_, line_ + breaks, NumCharacters(in_line) + 1), message));
}

}  // namespace bregboost::detail
