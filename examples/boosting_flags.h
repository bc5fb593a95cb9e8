// The flags of the tree learners, and what they make of a table: parameters, options, features.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "bregboost/data/feature_array.h"
#include "bregboost/learners/boosted_options.h"
#include "csv_problem.h"

namespace example {

struct BoostingFlags {
  std::string library;
  std::vector<std::string> parameters, categorical;
  std::int64_t rounds_per_step = 1, early_stopping = 0;
};

inline void AddFlags(CLI::App& app, BoostingFlags& flags) {
  app.add_option("--categorical", flags.categorical,
                 "feature column of codes 0, 1, 2, ...; may be repeated");
  app.add_option("--param", flags.parameters, "name=value of the library; may be repeated");
  app.add_option("--library", flags.library, "shared library to use; default: the wheel's");
  app.add_option("--rounds-per-step", flags.rounds_per_step, "rounds of one proximal step")
      ->check(CLI::PositiveNumber);
  app.add_option("--early-stopping", flags.early_stopping,
                 "stop when the held-out or out-of-fold loss has not fallen for so many rounds");
}

inline bregboost::GbmParameters ParametersOf(const BoostingFlags& flags) {
  bregboost::GbmParameters parameters;
  for (const std::string& text : flags.parameters) {
    const std::size_t sign = text.find('=');
    if (sign == std::string::npos || sign == 0) {
      throw std::invalid_argument(fmt::format("param: '{}'; allowed: name=value", text));
    }
    parameters[text.substr(0, sign)] = text.substr(sign + 1);
  }
  return parameters;
}

inline void CheckCodes(const Table& table, std::size_t column) {
  const std::size_t n = table.rows.num_rows();
  for (std::size_t i = 0; i < n; ++i) {
    const double code = table.features[column * n + i];
    if (std::isnan(code) || (code >= 0.0 && code == std::floor(code))) continue;
    throw std::invalid_argument(
        fmt::format("column '{}': {}; allowed in a categorical column: "
                    "codes 0, 1, 2, ..., or nothing where it is missing",
                    table.feature_names[column], code));
  }
}

inline bregboost::FeatureArray FeaturesOf(const Table& table,
                                          const std::vector<std::string>& categorical) {
  const auto& names = table.feature_names;
  bregboost::FeatureArray features =
      bregboost::FeatureArray::ColumnMajor(table.features, table.rows.num_rows(), names.size());
  features.names = names;
  for (const std::string& name : categorical) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      throw std::invalid_argument(fmt::format("categorical: '{}' is no feature column", name));
    }
    features.categorical.push_back(static_cast<std::size_t>(found - names.begin()));
    CheckCodes(table, features.categorical.back());
  }
  return features;
}

inline bregboost::BoostedOptions BoostingOf(const BoostingFlags& flags) {
  return {.parameters = ParametersOf(flags),
          .rounds_per_step = flags.rounds_per_step,
          .early_stopping_rounds = flags.early_stopping};
}

}  // namespace example
