#include "data/detail/column_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "data/detail/level_order.h"
#include "data/detail/number_field.h"
#include "data/detail/place.h"

namespace bregboost::detail {

MissingWords::MissingWords(std::vector<std::string> words) : words_(std::move(words)) {
  for (const std::string& word : words_) {
    if (!word.empty()) may_begin_[static_cast<unsigned char>(word.front())] = true;
    const std::optional<double> number = ParseNumberField(word);
    if (number && !std::isnan(*number)) has_numbers_ = true;
  }
}

bool MissingWords::Contains(std::string_view trimmed) const {
  if (!trimmed.empty() && !may_begin_[static_cast<unsigned char>(trimmed.front())]) return false;
  return std::find(words_.begin(), words_.end(), trimmed) != words_.end();
}

ColumnBuilder::ColumnBuilder(std::string name, Rule rule, const std::string& source,
                             const MissingWords& missing)
    : rule_(rule), source_(source), missing_(missing) {
  column_.name = std::move(name);
  column_.kind = rule == Rule::kCategorical ? ColumnKind::kCategorical : ColumnKind::kNumeric;
  takes_numbers_ = column_.kind == ColumnKind::kNumeric && !missing.has_numbers();
}

void ColumnBuilder::Add(std::string_view field, std::uint64_t line) {
  const std::string_view trimmed = Trimmed(field);
  if (missing_.Contains(trimmed)) {
    AddMissing(line);
    return;
  }
  if (column_.kind == ColumnKind::kNumeric) {
    if (const std::optional<double> number = ParseNumberField(trimmed)) {
      if (std::isnan(*number) && column_.first_missing_line == 0) {
        column_.first_missing_line = line;
      }
      AddNumber(*number);
      return;
    }
    if (rule_ == Rule::kNumeric) {
      throw std::invalid_argument(fmt::format("{}: {}; allowed: numbers",
                                              Place(source_, line, column_.name), Quoted(field)));
    }
    BecomeCategorical();
    column_.first_text_line = line;
    column_.first_text = field;
  }
  if (!has_lost_texts_) column_.codes.push_back(CodeOf(field));  // else a second pass reads them
}

void ColumnBuilder::AddMissing(std::uint64_t line) {
  if (column_.first_missing_line == 0) column_.first_missing_line = line;
  if (column_.kind == ColumnKind::kNumeric) {
    column_.values.push_back(std::numeric_limits<double>::quiet_NaN());
  } else {
    column_.codes.push_back(kMissingCode);
  }
}

void ColumnBuilder::BecomeCategorical() {
  if (column_.kind == ColumnKind::kCategorical) return;
  column_.kind = ColumnKind::kCategorical;
  takes_numbers_ = false;
  has_lost_texts_ = has_numbers_;
  column_.codes.assign(column_.values.size(), kMissingCode);
  column_.values = {};
}

std::int32_t ColumnBuilder::CodeOf(std::string_view text) {
  auto found = code_of_.find(text);
  if (found == code_of_.end()) {
    found = code_of_.emplace(text, static_cast<std::int32_t>(code_of_.size())).first;
  }
  return found->second;
}

void ColumnBuilder::Append(ColumnBuilder& next) {
  TableColumn& theirs = next.column_;
  if (column_.first_missing_line == 0) column_.first_missing_line = theirs.first_missing_line;
  if (column_.first_text_line == 0) {
    column_.first_text_line = theirs.first_text_line;
    column_.first_text = std::move(theirs.first_text);
  }
  if (column_.kind == ColumnKind::kNumeric && theirs.kind == ColumnKind::kNumeric) {
    column_.values.insert(column_.values.end(), theirs.values.begin(), theirs.values.end());
    has_numbers_ = has_numbers_ || next.has_numbers_;
    theirs.values = {};
    return;
  }
  BecomeCategorical();
  next.BecomeCategorical();
  has_lost_texts_ = has_lost_texts_ || next.has_lost_texts_;
  if (has_lost_texts_) return;
  std::vector<std::int32_t> new_code(next.code_of_.size());
  for (const auto& [text, code] : next.code_of_) {
    new_code[static_cast<std::size_t>(code)] = CodeOf(text);
  }
  for (const std::int32_t code : theirs.codes) {
    column_.codes.push_back(code == kMissingCode ? code : new_code[static_cast<std::size_t>(code)]);
  }
  theirs.codes = {};
  next.code_of_.clear();
}

TableColumn ColumnBuilder::Finish() {
  // From codes in the order of appearance to codes in the order of the levels.
  std::vector<std::string>& levels = column_.levels;
  for (const auto& [level, code] : code_of_) levels.push_back(level);
  SortLevels(levels);
  std::vector<std::int32_t> new_code(levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    new_code[static_cast<std::size_t>(code_of_.at(levels[i]))] = static_cast<std::int32_t>(i);
  }
  for (std::int32_t& code : column_.codes) {
    if (code != kMissingCode) code = new_code[static_cast<std::size_t>(code)];
  }
  code_of_.clear();
  return std::move(column_);
}

}  // namespace bregboost::detail
