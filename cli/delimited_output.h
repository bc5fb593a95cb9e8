// Fields and lines of CSV files, quoted where RFC 4180 asks for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bregboost::cli {

inline std::string DelimitedField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

inline std::string DelimitedLine(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (!line.empty() || &field != fields.data()) line += ',';
    line += DelimitedField(field);
  }
  return line + '\n';
}

}  // namespace bregboost::cli
