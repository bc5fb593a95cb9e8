#include "data/detail/place.h"

#include <fmt/format.h>

#include <algorithm>

#include "problem/detail/text.h"

namespace bregboost::detail {

std::string Place(std::string_view source, std::uint64_t line, std::uint64_t column) {
  return fmt::format("'{}', line {}, column {}", source, line, column);
}

std::string Place(std::string_view source, std::uint64_t line, std::string_view column_name) {
  return fmt::format("'{}', line {}, column {}", source, line, Quoted(column_name));
}

std::uint64_t NumCharacters(std::string_view text) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return static_cast<std::uint64_t>(std::count_if(text.begin(), text.end(), begins));
}

std::string Quoted(std::string_view value) {
  constexpr std::size_t kMaxShownBytes = 60;
  return fmt::format("'{}'", Printable(Shortened(value, kMaxShownBytes)));
}

}  // namespace bregboost::detail
