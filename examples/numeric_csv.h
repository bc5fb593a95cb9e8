// The little CSV that the examples need: a header, commas, no quotes. An empty field is a missing
// value.
#pragma once

#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace example {

struct Csv {
  std::vector<std::string> header;
  std::map<std::string, std::vector<std::string>> columns;
};

inline std::vector<std::string> SplitLine(const std::string& line) {
  std::vector<std::string> fields;
  // Lines may end in CR LF. The last comma is followed by a field, be it empty.
  std::stringstream stream(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  if (stream.str().ends_with(',')) fields.emplace_back();
  return fields;
}

inline Csv ReadCsv(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument("data: cannot read '" + path + "'");
  Csv csv;
  std::string line;
  std::getline(file, line);
  csv.header = SplitLine(line);
  for (std::size_t number = 2; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    const std::vector<std::string> fields = SplitLine(line);
    if (fields.size() != csv.header.size()) {
      throw std::invalid_argument(path + ", line " + std::to_string(number) + ": " +
                                  std::to_string(fields.size()) + " fields; allowed: as many as " +
                                  "the header has, " + std::to_string(csv.header.size()));
    }
    for (std::size_t j = 0; j < fields.size(); ++j) csv.columns[csv.header[j]].push_back(fields[j]);
  }
  return csv;
}

inline const std::vector<std::string>& ColumnOf(const Csv& csv, const std::string& name) {
  const auto found = csv.columns.find(name);
  if (found == csv.columns.end()) throw std::invalid_argument("data has no column '" + name + "'");
  return found->second;
}

enum class Missing {
  kRefused,
  kAllowed,  // becomes NaN
};

inline std::vector<double> NumbersOf(const Csv& csv, const std::string& name,
                                     Missing missing = Missing::kRefused) {
  std::vector<double> numbers;
  for (const std::string& text : ColumnOf(csv, name)) {
    if (text.empty() && missing == Missing::kAllowed) {
      numbers.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    std::size_t used = 0;
    double value = 0.0;
    try {
      value = std::stod(text, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (used == 0 || used != text.size()) {
      std::string message = "column '" + name;
      message.append("': '").append(text).append("'; allowed: numbers");
      throw std::invalid_argument(message);
    }
    numbers.push_back(value);
  }
  return numbers;
}

}  // namespace example
