#include "bregboost/data/libsvm_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "data/detail/column_builder.h"
#include "data/detail/number_field.h"
#include "data/detail/place.h"
#include "data/detail/record_batches.h"

namespace bregboost {
namespace {

constexpr std::string_view kSpaces = " \t";
// The memory that a line may take, as in DelimitedOptions.
constexpr std::size_t kMaxLineBytes = std::size_t{1} << 30;

class LineParser {
 public:
  LineParser(const std::string& source, const LibsvmOptions& options, detail::ColumnBuilder& label,
             SparseTable& table)
      : source_(source), options_(options), label_(label), table_(table) {}

  void Parse(std::string_view line, std::uint64_t number) {
    line_ = line;
    number_ = number;
    std::string_view rest = line.substr(0, line.find('#'));
    if (rest.ends_with('\r')) rest.remove_suffix(1);
    const std::string_view label = NextToken(rest);
    if (label.empty()) return;
    const std::optional<double> value = detail::ParseNumberField(label);
    if (!value || !std::isfinite(*value)) {
      Fail(label, fmt::format("label {}; allowed: a finite number", detail::Quoted(label)));
    }
    label_.Add(label, number);
    std::int32_t previous = -1;
    for (std::string_view entry = NextToken(rest); !entry.empty(); entry = NextToken(rest)) {
      previous = ParseEntry(entry, previous);
    }
    table_.row_offsets.push_back(static_cast<std::int64_t>(table_.values.size()));
  }

 private:
  static std::string_view NextToken(std::string_view& rest) {
    rest.remove_prefix(std::min(rest.find_first_not_of(kSpaces), rest.size()));
    const std::string_view token = rest.substr(0, rest.find_first_of(kSpaces));
    rest.remove_prefix(token.size());
    return token;
  }

  std::int32_t ParseEntry(std::string_view entry, std::int32_t previous) {
    const std::size_t colon = entry.find(':');
    const std::string_view text = entry.substr(0, colon);
    if (colon == std::string_view::npos) {
      Fail(entry, fmt::format("{}; allowed: index:value", detail::Quoted(entry)));
    }
    if (text == "qid") {
      Fail(entry, "'qid', queries of a ranking task; allowed: index:value alone");
    }
    std::int32_t index = -1;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (error != std::errc() || stop != text.data() + text.size() || index < 0 ||
        index > kMaxLibsvmIndex) {
      Fail(entry, fmt::format("index {}; allowed: whole numbers from 0 to {}", detail::Quoted(text),
                              kMaxLibsvmIndex));
    }
    if (index <= previous) {
      Fail(entry, fmt::format("index {} behind {}; allowed: indices that rise within a row", index,
                              previous));
    }
    const std::string_view value = entry.substr(colon + 1);
    const std::optional<double> number = detail::ParseNumberField(value);
    if (!number) Fail(value, fmt::format("value {}; allowed: a number", detail::Quoted(value)));
    Keep(index, *number);
    return index;
  }

  void Keep(std::int32_t index, double value) {
    const auto column = static_cast<std::size_t>(index);
    if (options_.num_columns == 0) {
      table_.num_columns = std::max(table_.num_columns, column + 1);
    } else if (column >= options_.num_columns) {
      return;
    }
    table_.column_indices.push_back(index);
    table_.values.push_back(value);
  }

  [[noreturn]] void Fail(std::string_view part, const std::string& message) const {
    const std::string_view before(line_.data(),
                                  static_cast<std::size_t>(part.data() - line_.data()));
    throw std::invalid_argument(fmt::format(
        "{}: {}", detail::Place(source_, number_, detail::NumCharacters(before) + 1), message));
  }

  const std::string& source_;
  const LibsvmOptions& options_;
  detail::ColumnBuilder& label_;
  SparseTable& table_;
  std::string_view line_;
  std::uint64_t number_ = 0;
};

}  // namespace

SparseTable ReadLibsvm(TextSource& source, const LibsvmOptions& options) {
  if (options.block_bytes == 0) throw std::invalid_argument("block_bytes: 0; allowed: at least 1");
  SparseTable table;
  table.source = source.name();
  table.num_columns = options.num_columns;
  const detail::MissingWords no_words({});
  const bool is_numeric = options.label == ColumnKind::kNumeric;
  using Rule = detail::ColumnBuilder::Rule;
  detail::ColumnBuilder label("label", is_numeric ? Rule::kNumeric : Rule::kCategorical,
                              source.name(), no_words);
  LineParser parser(source.name(), options, label, table);
  detail::RecordBatches batches(source, options.block_bytes, kMaxLineBytes,
                                detail::RecordBatches::kNoQuotes);
  detail::RecordBatch batch;
  while (batches.Next(batch)) {
    std::string_view rest(batch.begin(), batch.size);
    for (std::uint64_t number = batch.first_line; !rest.empty(); ++number) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      parser.Parse(line, number);
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
  }
  table.label = label.Finish();
  if (table.num_rows() > 0) return table;
  throw std::invalid_argument(fmt::format("'{}': no rows; allowed: at least one", source.name()));
}

SparseTable ReadLibsvm(const std::string& path, const LibsvmOptions& options) {
  const std::unique_ptr<TextSource> source = OpenTextFile(path);
  return ReadLibsvm(*source, options);
}

bool IsLibsvmName(std::string_view path) {
  const std::string_view name = WithoutCompression(path);
  return name.ends_with(".libsvm") || name.ends_with(".svmlight") || name.ends_with(".svm");
}

}  // namespace bregboost
