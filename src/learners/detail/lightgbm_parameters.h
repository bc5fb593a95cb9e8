// The user's LightGBM parameters: what bregboost must know of them, and the text that LightGBM
// gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "bregboost/data/row_data.h"
#include "bregboost/learners/boosted_options.h"
#include "bregboost/problem/surrogate.h"

namespace bregboost::detail {

struct LightGbmSettings {
  std::optional<std::int64_t> num_rounds;
  std::optional<std::int64_t> early_stopping_rounds;
  int num_threads = 0;  // 0: the library's default
  double learning_rate = 0.1;
  bool boost_from_average = true;
  bool samples = false;    // rows or features are drawn anew, so an empty round may be bad luck
  std::string text;        // for LightGBM, with objective=custom
  std::string stall_hint;  // the limits on splits that are in force
};

// Throws std::invalid_argument for what custom derivatives or a plain exported model cannot carry.
LightGbmSettings ReadLightGbmParameters(const GbmParameters& parameters, Task task,
                                        std::size_t num_scores, LossKind loss);

// For one of several boosters that train side by side: one thread, and no early stopping of its own.
GbmParameters LightGbmFoldParameters(const GbmParameters& parameters);

// "key=value key=value", quiet unless the user asks for more.
std::string LightGbmParameterText(const GbmParameters& parameters);

}  // namespace bregboost::detail
