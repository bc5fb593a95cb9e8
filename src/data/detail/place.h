// Where in a text something is wrong, as errors say it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bregboost::detail {

// "'rows.csv', line 3, column 7", the column counted in UTF-8 characters from 1.
std::string Place(std::string_view source, std::uint64_t line, std::uint64_t column);

// "'rows.csv', line 3, column 'age'"
std::string Place(std::string_view source, std::uint64_t line, std::string_view column_name);

// How many characters begin in the text.
std::uint64_t NumCharacters(std::string_view text);

// A value for a message: in quotes, control bytes escaped, cut if long.
std::string Quoted(std::string_view value);

}  // namespace bregboost::detail
