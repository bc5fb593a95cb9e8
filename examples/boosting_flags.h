// The flags of the tree learners, and what they make: parameters and options.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "bregboost/learners/boosted_options.h"

namespace example {

struct BoostingFlags {
  std::string library;
  std::vector<std::string> parameters, categorical;
  std::int64_t rounds_per_step = 1, early_stopping = 0;
};

inline void AddFlags(CLI::App& app, BoostingFlags& flags) {
  app.add_option("--categorical", flags.categorical,
                 "feature column of categories that look like numbers; may be repeated");
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

inline bregboost::BoostedOptions BoostingOf(const BoostingFlags& flags) {
  return {.parameters = ParametersOf(flags),
          .rounds_per_step = flags.rounds_per_step,
          .early_stopping_rounds = flags.early_stopping};
}

}  // namespace example
