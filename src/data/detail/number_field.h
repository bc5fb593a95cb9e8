// Numbers as fields of tables spell them.
#pragma once

#include <fast_float/fast_float.h>

#include <optional>
#include <string_view>
#include <system_error>

namespace bregboost::detail {

// Without spaces and tabs at both ends.
inline std::string_view Trimmed(std::string_view text) {
  constexpr auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// The double nearest to the whole of `text`, which is trimmed: decimal digits with or without sign,
// point and exponent, or inf, infinity and nan in letters of either case. What is too large is
// infinite, what is too small is 0.
inline std::optional<double> ParseNumberField(std::string_view text) {
  const bool has_plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  if (has_plus) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = fast_float::from_chars(text.data(), end, value);
  const bool is_number = error == std::errc() || error == std::errc::result_out_of_range;
  if (!is_number || stop != end) return std::nullopt;
  return value;
}

}  // namespace bregboost::detail
