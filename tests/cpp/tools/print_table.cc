// Reads a table and prints its columns as JSON: numbers as texts that read back to the same double,
// categories as their texts, missing values as null.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bregboost/data/table.h"

namespace {

using bregboost::ColumnKind;
using bregboost::TableColumn;
using nlohmann::json;

json ValuesOf(const TableColumn& column) {
  json values = json::array();
  for (const double value : column.values) {
    values.push_back(std::isnan(value) ? json() : json(fmt::format("{}", value)));
  }
  for (const std::int32_t code : column.codes) {
    const bool is_missing = code == bregboost::kMissingCode;
    values.push_back(is_missing ? json() : json(column.levels[static_cast<std::size_t>(code)]));
  }
  return values;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::invalid_argument("usage: print_table FILE");
    json columns = json::array();
    for (const TableColumn& column : bregboost::ReadTable(argv[1]).columns) {
      columns.push_back({{"name", column.name},
                         {"kind", Name(column.kind)},
                         {"levels", column.levels},
                         {"values", ValuesOf(column)}});
    }
    std::cout << columns << '\n';
  } catch (const std::exception& error) {
    std::cerr << "print_table: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
