// What every example program does around its work: words into options, results into files, errors
// into one message and an exit code.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "bregboost/problem/compiled_constraints.h"

namespace example {

template <class Enum>
Enum Choose(const std::string& option, const std::string& word, std::initializer_list<Enum> all) {
  std::string allowed;
  for (const Enum value : all) {
    if (Name(value) == word) return value;
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", Name(value));
  }
  throw std::invalid_argument(fmt::format("{}: '{}'; allowed: {}", option, word, allowed));
}

// Writes beside the file and renames, so that nobody ever reads half of it.
inline void WriteFile(const std::string& option, const std::string& path,
                      const std::string& contents) {
  const std::string beside = path + ".part";
  std::ofstream file(beside, std::ios::binary);
  file << contents;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(beside, path, error);
  if (file && !error) return;
  std::filesystem::remove(beside, error);
  throw std::invalid_argument(fmt::format("{}: cannot write '{}'", option, path));
}

inline nlohmann::json ToJson(const bregboost::Measurement& row) {
  return {{"text", row.text},
          {"value", row.value},
          {"violation", row.violation},
          {"satisfied", row.satisfied}};
}

inline void PrintLimits(const std::vector<bregboost::Measurement>& rows) {
  fmt::print("{:<44} {:>10} {:>10}  {}\n", "constraint", "measured", "violation", "holds");
  for (const bregboost::Measurement& row : rows) {
    fmt::print("{:<44} {:>10.4f} {:>10.4f}  {}\n", row.text, row.value, row.violation,
               row.satisfied ? "yes" : "no");
  }
}

inline int RunProgram(CLI::App& app, int argc, char** argv, const std::function<void()>& run) {
  try {
    app.parse(argc, argv);
    run();
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const std::exception& error) {
    std::cerr << app.get_name() << ": " << error.what() << '\n';
    return 1;
  }
  return 0;
}

}  // namespace example
