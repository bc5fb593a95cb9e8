#include "problem/detail/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace bregboost::detail {
namespace {

constexpr std::size_t kMaxTokenBytes = 40;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsControl(char c) { return (c >= '\0' && c < ' ') || c == '\x7f'; }
bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
bool IsNonAscii(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsRelation(char c) { return c == '<' || c == '>' || c == '=' || c == '!'; }
bool IsWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || IsNonAscii(c);
}
bool IsWordPart(char c) { return IsWordStart(c) || IsDigit(c); }

// Words that a bare column may not be, since they mean something else in its place.
bool IsReserved(std::string_view name) {
  return name == "class" || name == "predicted" || name == "by";
}

bool IsBareColumn(std::string_view name) {
  if (name.empty() || !IsWordStart(name.front()) || IsReserved(name)) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return IsWordPart(c) || c == '-' || c == '.'; });
}

bool IsBareValue(std::string_view value) {
  if (value.empty() || value.front() == '=') return false;
  constexpr std::string_view kSpecial = " ,()\"'";
  return std::none_of(value.begin(), value.end(), [&](char c) {
    return IsControl(c) || kSpecial.find(c) != std::string_view::npos;
  });
}

std::string Quoted(std::string_view content) {
  std::string escaped;
  for (const char c : content) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return '"' + Printable(escaped) + '"';
}

void CheckByte(char c, bool quoted, std::size_t offset) {
  if (!IsControl(c) || (!quoted && IsSpace(c))) return;
  throw Flaw{ConstraintErrorCode::kSyntax, offset,
             fmt::format("control byte {0} is not allowed; inside quotes, write it as {0}",
                         Printable(std::string_view(&c, 1)))};
}

}  // namespace

void CheckCharacters(std::string_view text) {
  if (text.size() > kMaxTextBytes) {
    throw Flaw{
        ConstraintErrorCode::kSyntax, kMaxTextBytes,
        fmt::format("the text has {} bytes; at most {} are allowed", text.size(), kMaxTextBytes)};
  }
  char open_quote = '\0';  // NUL is refused as a byte, so it can stand for "none"
  std::size_t quote_offset = 0, depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    CheckByte(c, open_quote != '\0', i);
    if (open_quote != '\0') {
      const bool escapes = c == '\\' && i + 1 < text.size() && !IsControl(text[i + 1]);
      if (escapes) ++i;
      if (c == open_quote) open_quote = '\0';
    } else if (c == '"' || c == '\'') {
      open_quote = c;
      quote_offset = i;
    } else if (c == '(' && ++depth > kMaxNesting) {
      throw Flaw{ConstraintErrorCode::kSyntax, i,
                 fmt::format("parentheses are nested deeper than {}", kMaxNesting)};
    } else if (c == ')' && depth > 0) {
      --depth;
    }
  }
  if (open_quote == '\0') return;
  throw Flaw{ConstraintErrorCode::kSyntax, quote_offset,
             fmt::format("the quote {} is never closed", open_quote)};
}

std::size_t ColumnOf(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto inside_characters = std::count_if(before.begin(), before.end(), IsContinuation);
  return before.size() - static_cast<std::size_t>(inside_characters) + 1;
}

std::string TokenAt(std::string_view text, std::size_t offset) {
  if (offset >= text.size()) return "the end of the text";
  const std::string_view rest = text.substr(offset);
  const auto run = [&](auto belongs) {
    const auto end = std::find_if_not(rest.begin(), rest.end(), belongs);
    return std::max<std::size_t>(1, static_cast<std::size_t>(end - rest.begin()));
  };
  const bool is_relation = IsRelation(rest.front());
  const std::size_t size = is_relation ? run(IsRelation) : run(IsWordPart);
  return fmt::format("'{}'", Printable(Shortened(rest.substr(0, size), kMaxTokenBytes)));
}

std::string Shortened(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  std::size_t end = max_bytes;
  while (end > 0 && IsContinuation(text[end])) --end;
  return std::string(text.substr(0, end)) + "...";
}

std::string Printable(std::string_view text) {
  std::string printable;
  for (const char c : text) {
    if (IsControl(c)) {
      printable += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      printable += c;
    }
  }
  return printable;
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string joined;
  for (const std::string& part : parts) joined += (joined.empty() ? "" : ", ") + part;
  return joined;
}

std::string ColumnText(std::string_view name) {
  return IsBareColumn(name) ? std::string(name) : Quoted(name);
}

std::string ValueText(std::string_view value) {
  return IsBareValue(value) ? std::string(value) : Quoted(value);
}

std::string Unquoted(std::string_view quoted) {
  const std::string_view inner = quoted.substr(1, quoted.size() - 2);
  std::string content;
  for (std::size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] != '\\') {
      content += inner[i];
    } else if (inner[i + 1] != 'x') {
      content += inner[++i];
    } else {  // \xHH
      unsigned char byte = 0;
      std::from_chars(inner.data() + i + 2, inner.data() + i + 4, byte, /*base=*/16);
      content += static_cast<char>(byte);
      i += 3;
    }
  }
  return content;
}

}  // namespace bregboost::detail
