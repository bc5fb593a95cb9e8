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

class LightGbmApi;

struct LightGbmSettings {
  std::optional<std::int64_t> num_rounds;
  std::optional<std::int64_t> early_stopping_rounds;
  int num_threads = 0;  // 0: the library's default
  double learning_rate = 0.1;
  bool boost_from_average = true;
  bool samples = false;      // rows or features are drawn anew, so an empty round may be bad luck
  GbmParameters parameters;  // for LightGBM: those of the user, with objective=custom
  std::string stall_hint;    // the limits on splits that are in force

  // The parameters as LightGBM takes them. A booster that is made anew repeats its draws of rows
  // and features, unless it has another number here; 0 leaves the seeds as they are.
  std::string Text(std::int64_t draw = 0) const;
};

// Throws std::invalid_argument for what custom derivatives or a plain exported model cannot carry.
LightGbmSettings ReadLightGbmParameters(const GbmParameters& parameters, Task task,
                                        std::size_t num_scores, const LossOptions& loss);

// 0: the library's default. Throws std::invalid_argument for what is no number.
int LightGbmThreads(const GbmParameters& parameters);

// Throws std::invalid_argument for a name that the library does not know, which LightGBM itself
// would ignore but for a warning.
void CheckLightGbmNames(const GbmParameters& parameters, const LightGbmApi& api);

// Without early stopping, for boosters that are watched from outside, or not at all.
GbmParameters LightGbmWithoutEarlyStopping(const GbmParameters& parameters);

// For one of several boosters that train side by side: one thread, and no early stopping of its
// own.
GbmParameters LightGbmFoldParameters(const GbmParameters& parameters);

// For a data set, which has no objective.
GbmParameters LightGbmDataParameters(const GbmParameters& parameters);

// "key=value key=value", quiet unless the user asks for more.
std::string LightGbmParameterText(const GbmParameters& parameters);

}  // namespace bregboost::detail
