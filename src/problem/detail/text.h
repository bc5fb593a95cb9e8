// The characters of a constraint text: what may stand bare, what needs quotes, how errors show it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bregboost/problem/constraint_error.h"

namespace bregboost::detail {

// A flaw at a byte offset of the text; the parser's entry points turn it into a ConstraintError.
struct Flaw {
  ConstraintErrorCode code;
  std::size_t offset;
  std::string message;
};

// Longer texts are refused: the grammar is for people, and the parser's memory stays bounded.
inline constexpr std::size_t kMaxTextBytes = 64 * 1024;
// Parentheses within parentheses; keeps the recursive descent far from the end of the stack.
inline constexpr std::size_t kMaxNesting = 100;

// Throws Flaw for what the grammar need not know: too long, too deep, control bytes, open quotes.
void CheckCharacters(std::string_view text);

// The 1-based column of a byte offset. Counts UTF-8 characters, so a caret below the text fits.
std::size_t ColumnOf(std::string_view text, std::size_t offset);

// The token at `offset` for a message, in quotes, or "the end of the text".
std::string TokenAt(std::string_view text, std::size_t offset);

// `text` cut to at most `max_bytes`, between characters, and marked with "..." if cut.
std::string Shortened(std::string_view text, std::size_t max_bytes);

// `text` with control bytes written as \xHH.
std::string Printable(std::string_view text);

// "a, b, c". GCC 12 at -O3 warns inside fmt::join, so our printers do without it.
std::string Joined(const std::vector<std::string>& parts);

// A group column or a value as the grammar reads it back: bare where possible, else quoted.
std::string ColumnText(std::string_view name);
std::string ValueText(std::string_view value);

// The content of a quoted string that the grammar has accepted, quotes included.
std::string Unquoted(std::string_view quoted);

}  // namespace bregboost::detail
