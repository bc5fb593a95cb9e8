// The user's XGBoost parameters: what bregboost must know of them, and what XGBoost gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "bregboost/data/row_data.h"
#include "bregboost/learners/boosted_options.h"

namespace bregboost::detail {

struct XgboostSettings {
  std::optional<std::int64_t> num_rounds;
  std::optional<std::int64_t> early_stopping_rounds;
  int num_threads = 0;  // 0: the library's default
  double learning_rate = 0.3;
  bool samples = false;  // rows or features are drawn anew, so an empty round may be bad luck
  bool has_base_score = false;
  bool check_names = true;  // refuse parameters that the library does not know
  std::string objective;
  std::size_t num_scores = 1;
  GbmParameters parameters;  // for XGBoost: those of the user, the objective, the classes
  std::string stall_hint;    // the limits on splits that are in force
};

// Throws std::invalid_argument for what custom derivatives or a plain exported model cannot carry.
// Names are left to CheckXgboostNames: which exist depends on the library's version.
XgboostSettings ReadXgboostParameters(const GbmParameters& parameters, Task task,
                                      std::size_t num_scores);

// 0: the library's default. Throws std::invalid_argument for what is no number.
int XgboostThreads(const GbmParameters& parameters);

// Throws std::invalid_argument for a name that `config`, what XGBoosterSaveJsonConfig says, does
// not have. XGBoost itself would ignore it or, asked to validate, print a warning.
void CheckXgboostNames(const XgboostSettings& settings, const std::string& config);

// Without early stopping, for boosters that are watched from outside, or not at all.
GbmParameters XgboostWithoutEarlyStopping(const GbmParameters& parameters);

// For one of several boosters that train side by side: one thread, and no early stopping of its
// own.
GbmParameters XgboostFoldParameters(const GbmParameters& parameters);

// How a data set for these parameters is made.
struct XgboostBinning {
  bool has_bins = true;  // false: the trees are grown from the features themselves
  std::int64_t max_bin = 256;
  int num_threads = 0;
};
XgboostBinning ReadXgboostBinning(const GbmParameters& parameters);

}  // namespace bregboost::detail
