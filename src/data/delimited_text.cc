#include "bregboost/data/delimited_text.h"

#include <fmt/format.h>

#include <cctype>
#include <stdexcept>

#include "data/detail/batch_rows.h"
#include "data/detail/delimited_header.h"
#include "data/detail/place.h"
#include "data/detail/record_batches.h"

namespace bregboost {
namespace {

// ASCII that no number, nan(...) included, and no line break or quote is made of.
bool MayDelimit(char c) {
  constexpr std::string_view kOthers = "\"\r\n.+-_()";
  const auto byte = static_cast<unsigned char>(c);
  return byte != 0 && byte < 0x80 && std::isalnum(byte) == 0 &&
         kOthers.find(c) == std::string_view::npos;
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

struct DelimitedText::State {
  State(TextSource& source, const DelimitedOptions& options)
      : name(source.name()),
        batches(source, options.block_bytes, options.max_row_bytes, detail::BatchRows::kQuote),
        rows(source.name(), options.delimiter) {}

  const std::string& name;
  detail::RecordBatches batches;
  detail::RecordBatch batch;
  detail::BatchRows rows;
  bool has_rows = false;
};

DelimitedText::DelimitedText(TextSource& source, const DelimitedOptions& options) {
  Validate(options);
  state_ = std::make_unique<State>(source, options);
  header_ = detail::ReadHeader(state_->name, state_->batches, state_->batch, state_->rows);
}

DelimitedText::~DelimitedText() = default;

bool DelimitedText::NextRow() {
  while (!state_->rows.NextRow()) {
    const bool is_at_end = !state_->batches.Next(state_->batch);
    state_->rows.Start(state_->batch);
    if (is_at_end && !state_->has_rows) detail::FailWithoutRows(state_->name);
    if (is_at_end) return false;
  }
  state_->has_rows = true;
  return true;
}

std::string_view DelimitedText::NextField() { return state_->rows.NextField(); }

bool DelimitedText::TakeNumber(double& value) { return state_->rows.TakeNumber(value); }

std::uint64_t DelimitedText::line() const { return state_->rows.line(); }

}  // namespace bregboost
