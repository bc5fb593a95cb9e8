#include "bregboost/data/delimited_text.h"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <unordered_map>

#include "data/detail/place.h"
#include "data/detail/record_buffer.h"

namespace bregboost {
namespace {

constexpr char kQuote = '"';

// Bytes that numbers and lines are made of, and those that are not ASCII.
bool MayDelimit(char c) {
  constexpr std::string_view kOthers = "\"\r\n.+-_()";
  const auto byte = static_cast<unsigned char>(c);
  return byte != 0 && byte < 0x80 && std::isalnum(byte) == 0 &&
         kOthers.find(c) == std::string_view::npos;
}

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

void Validate(const DelimitedOptions& options) {
  if (!MayDelimit(options.delimiter)) {
    throw std::invalid_argument(fmt::format(
        "delimiter: {}; allowed: an ASCII character that no number, line break or quote is made of",
        detail::Quoted({&options.delimiter, 1})));
  }
  if (options.block_bytes == 0) throw std::invalid_argument("block_bytes: 0; allowed: at least 1");
  if (options.max_row_bytes == 0) {
    throw std::invalid_argument("max_row_bytes: 0; allowed: at least 1");
  }
}

char DelimiterOf(std::string_view path) {
  const std::string_view name = WithoutCompression(path);
  return name.ends_with(".tsv") || name.ends_with(".tab") ? '\t' : ',';
}

DelimitedText::DelimitedText(TextSource& source, const DelimitedOptions& options)
    : source_(source), delimiter_(options.delimiter) {
  Validate(options);
  buffer_ =
      std::make_unique<detail::RecordBuffer>(source, options.block_bytes, options.max_row_bytes);
  if (!NextRecord()) {
    throw std::invalid_argument(
        fmt::format("'{}': no header; allowed: a first line with column names", source.name()));
  }
  do {
    header_.emplace_back(NextField());
  } while (has_more_fields_);
  CheckHeader();
}

DelimitedText::~DelimitedText() = default;

bool DelimitedText::NextRow() {
  FinishRow();
  if (NextRecord()) {
    has_rows_ = true;
    return true;
  }
  if (has_rows_) return false;
  throw std::invalid_argument(
      fmt::format("'{}': no row below the header; allowed: at least one", source_.name()));
}

std::string_view DelimitedText::NextField() {
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

bool DelimitedText::TakeNumber(double& value) {
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

void DelimitedText::FinishRow() {
  while (has_more_fields_ && fields_taken_ <= header_.size()) NextField();
  if (fields_taken_ != header_.size()) FailFieldCount();
}

// Leaves the record in the buffer: fields look at it until the next call.
bool DelimitedText::NextRecord() {
  do {
    buffer_->Consume(record_bytes_);
    line_ += lines_of_record_;
    while (!FindRecord()) buffer_->More(line_);
    if (record_bytes_ == 0) return false;
  } while (!has_quotes_ && next_ == end_);  // an empty line
  has_more_fields_ = true;
  fields_taken_ = 0;
  const bool has_other_count = !header_.empty() && fields_.size() != header_.size();
  if (has_quotes_ && has_other_count) FailFieldCount();  // before quotes move the bytes
  for (const std::size_t field : with_doubled_quotes_) MergeDoubledQuotes(fields_[field]);
  return true;
}

// Finds the end of the record at the buffer's start. False if it needs more of the text.
bool DelimitedText::FindRecord() {
  const char* const begin = buffer_->begin();
  const char* const end = buffer_->end();
  const char* const line_break = Find('\n', begin, end);
  if (line_break == nullptr && !buffer_->is_last()) return false;
  next_ = begin;
  end_ = line_break == nullptr ? end : line_break;
  record_bytes_ = static_cast<std::size_t>(end_ - begin) + (line_break == nullptr ? 0 : 1);
  lines_of_record_ = 1;
  has_quotes_ = Find(kQuote, begin, end_) != nullptr;
  with_doubled_quotes_.clear();
  if (has_quotes_) return SplitQuoted();
  if (line_break != nullptr && end_ != begin && end_[-1] == '\r') --end_;
  if (const char* const at = Find('\r', begin, end_)) {
    Fail(at, "a carriage return alone; allowed: lines that end in LF or CR LF");
  }
  return true;
}

// The same for a record with quotes, which may go on behind its first line.
bool DelimitedText::SplitQuoted() {
  const char* const begin = buffer_->begin();
  const char* const end = buffer_->end();
  fields_.clear();
  for (const char* at = begin;; ++at) {
    at = *at == kQuote ? SplitQuotedField(at) : SplitField(at);
    if (at == nullptr) return false;
    if (at != end && *at == delimiter_) continue;
    const char* const stop = at != end && *at == '\r' ? at + 1 : at;
    if (stop == end && !buffer_->is_last()) return false;
    if (stop != at && (stop == end || *stop != '\n')) {
      Fail(at, "a carriage return alone; allowed: lines that end in LF or CR LF");
    }
    if (stop != end && *stop != '\n') {
      Fail(at, "text behind a closing quote; allowed: a delimiter or a line break");
    }
    record_bytes_ = static_cast<std::size_t>(stop - begin) + (stop == end ? 0 : 1);
    return true;
  }
}

// Where the field ends that begins at `at` without a quote.
const char* DelimitedText::SplitField(const char* at) {
  const char* const start = at;
  const char* const end = buffer_->end();
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

// `at` is the opening quote. Behind the closing one, or null if more of the text is needed.
const char* DelimitedText::SplitQuotedField(const char* at) {
  const char* const end = buffer_->end();
  const char* const start = at + 1;
  bool has_doubled_quotes = false;
  const char* close = start;
  for (;;) {
    close = Find(kQuote, close, end);
    const bool may_go_on = close == nullptr || close + 1 == end;
    if (may_go_on && !buffer_->is_last()) return nullptr;
    if (close == nullptr) Fail(at, "this quote is never closed; allowed: quotes in pairs");
    if (close + 1 == end || close[1] != kQuote) break;
    has_doubled_quotes = true;
    close += 2;
  }
  lines_of_record_ += static_cast<std::uint64_t>(std::count(start, close, '\n'));
  if (has_doubled_quotes) with_doubled_quotes_.push_back(fields_.size());
  fields_.emplace_back(start, static_cast<std::size_t>(close - start));
  return close + 1;
}

// In place: the buffer is ours, and the text only gets shorter.
void DelimitedText::MergeDoubledQuotes(std::string_view& field) {
  char* const first = buffer_->begin() + (field.data() - buffer_->begin());
  char* write = first;
  for (std::size_t i = 0; i < field.size(); ++i) {
    *write++ = first[i];
    if (first[i] == kQuote) ++i;  // the second of the pair
  }
  field = {first, static_cast<std::size_t>(write - first)};
}

void DelimitedText::CheckHeader() const {
  std::unordered_map<std::string_view, std::size_t> column_of;
  for (std::size_t j = 0; j < header_.size(); ++j) {
    if (header_[j].empty()) {
      throw std::invalid_argument(
          fmt::format("'{}', line {}: column {} of {} has no name; allowed: names that are not "
                      "empty",
                      source_.name(), line_, j + 1, header_.size()));
    }
    const auto [same, is_new] = column_of.emplace(header_[j], j);
    if (is_new) continue;
    throw std::invalid_argument(
        fmt::format("'{}', line {}: columns {} and {} are both named {}; allowed: distinct names",
                    source_.name(), line_, same->second + 1, j + 1, detail::Quoted(header_[j])));
  }
}

// At the end of a row with too few fields, at the first field that is too many otherwise.
void DelimitedText::FailFieldCount() const {
  const std::size_t allowed = header_.size();
  std::size_t count = fields_.size();
  const char* at = buffer_->begin();
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

void DelimitedText::Fail(const char* at, const std::string& message) const {
  const std::string_view before(buffer_->begin(), static_cast<std::size_t>(at - buffer_->begin()));
  const std::size_t last_break = before.rfind('\n');
  const std::string_view in_line =
      last_break == std::string_view::npos ? before : before.substr(last_break + 1);
  const auto breaks = static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n'));
  throw std::invalid_argument(fmt::format(
      "{}: {}", detail::Place(source_.name(), line_ + breaks, detail::NumCharacters(in_line) + 1),
      message));
}

}  // namespace bregboost
