// Reads the tables whose paths come on standard input, one per line, and answers each with a line
// of JSON: seconds, rows and columns. See reading.py, which sets pandas beside it.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "bregboost/data/table.h"

int main() {
  try {
    for (std::string path; std::getline(std::cin, path);) {
      const auto start = std::chrono::steady_clock::now();
      const bregboost::Table table = bregboost::ReadTable(path);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      fmt::print("{{\"seconds\": {}, \"rows\": {}, \"columns\": {}}}\n", seconds.count(),
                 table.num_rows, table.columns.size());
      std::fflush(stdout);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "reading: {}\n", error.what());
    return 1;
  }
  return 0;
}
