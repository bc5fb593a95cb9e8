#include "learners/detail/xgboost_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "bregboost/problem/parser.h"
#include "detail/option_checks.h"
#include "learners/detail/parameter_text.h"
#include "problem/detail/text.h"

namespace bregboost::detail {
namespace {

using Names = std::initializer_list<const char*>;  // the parameter, then its aliases

// Arguments of the Python functions rather than parameters of the library.
constexpr Names kNumRounds = {"num_boost_round", "n_estimators", "num_round"};
constexpr Names kEarlyStopping = {"early_stopping_rounds"};

constexpr Names kNumThreads = {"nthread", "n_jobs"};
constexpr Names kLearningRate = {"learning_rate", "eta"};
constexpr Names kMinSplitLoss = {"gamma", "min_split_loss"};
constexpr Names kLambda = {"reg_lambda", "lambda"};

// Parameters that the library keeps outside of its JSON config.
constexpr Names kOutsideConfig = {"eval_metric", "verbosity", "use_rmm", "use_cuda_async_pool"};

[[noreturn]] void Refuse(const ParameterText& parameter, std::string_view why) {
  throw std::invalid_argument(fmt::format("{}: {}; {}", parameter.name, parameter.value, why));
}

std::string Objective(const GbmParameters& parameters, Task task) {
  const auto given = FindParameter(parameters, {"objective"});
  switch (task) {
    case Task::kBinary:
      if (!given || given->value == "binary:logistic") return "binary:logistic";
      Refuse(*given,
             "allowed with two classes: binary:logistic (scores are log-odds, and the exported "
             "model gives probabilities)");
    case Task::kMulticlass:
      if (!given) return "multi:softprob";
      if (given->value == "multi:softprob" || given->value == "multi:softmax") return given->value;
      Refuse(*given, "allowed with more than two classes: multi:softprob, multi:softmax");
    case Task::kRegression:
      if (!given || given->value == "reg:squarederror") return "reg:squarederror";
      Refuse(*given,
             "allowed with a numeric target: reg:squarederror (the loss is bregboost's to compute, "
             "and the exported model gives the score as it is)");
  }
  throw std::logic_error("no such task");
}

void CheckNumClass(const GbmParameters& parameters, Task task, std::size_t num_scores) {
  const auto given = FindParameter(parameters, {"num_class"});
  if (!given) return;
  const std::int64_t classes = ToInteger(*given);
  if (task == Task::kMulticlass) {
    if (classes == static_cast<std::int64_t>(num_scores)) return;
    Refuse(*given, fmt::format("allowed with these labels: {}", num_scores));
  }
  // The library's own default is 0.
  if (classes != 0 && classes != 1) Refuse(*given, "allowed with this target: 1, or none");
}

void RequireValue(const GbmParameters& parameters, const char* name, const char* allowed,
                  const char* why) {
  const auto given = FindParameter(parameters, {name});
  if (given && given->value != allowed)
    Refuse(*given, fmt::format("allowed: {} ({})", allowed, why));
}

// Each would make the model differ from what its scores say, or is a cost of its own.
void CheckCarried(const GbmParameters& parameters) {
  if (const auto booster = FindParameter(parameters, {"booster"})) {
    if (booster->value == "dart") {
      Refuse(*booster,
             "allowed: gbtree (dart re-weights earlier trees in every round, so a proximal step "
             "has no fixed model to start from)");
    }
    if (booster->value == "gblinear") {
      Refuse(*booster, "allowed: gbtree (for linear models there is the linear learner)");
    }
  }
  RequireValue(parameters, "multi_strategy", "one_output_per_tree",
               "offsets and averages cannot be folded into leaves that hold vectors");
  RequireValue(parameters, "process_type", "default",
               "a round adds trees and leaves the earlier ones as they are");
  if (const auto updater = FindParameter(parameters, {"updater"});
      updater && !updater->value.empty() && updater->value.find("grow_") == std::string::npos) {
    Refuse(*updater, "allowed: a list with one that grows trees (grow_...)");
  }
  if (const auto weight = FindParameter(parameters, {"scale_pos_weight"});
      weight && ToDouble(*weight) != 1.0) {
    Refuse(*weight,
           "allowed: 1 (a class weight competes with the constraints, which set their own; or give "
           "row weights)");
  }
}

bool Samples(const GbmParameters& parameters) {
  for (const char* name :
       {"subsample", "colsample_bytree", "colsample_bylevel", "colsample_bynode"}) {
    const auto share = FindParameter(parameters, {name});
    if (share && ToDouble(*share) < 1.0) return true;
  }
  return false;
}

std::string StallHint(const GbmParameters& parameters) {
  const auto in_force = [&](Names names, const char* by_default) {
    const auto given = FindParameter(parameters, names);
    return fmt::format("{} = {}", *names.begin(), given ? given->value : by_default);
  };
  return fmt::format("{}, {}, {}, {}", in_force({"min_child_weight"}, "1"),
                     in_force(kMinSplitLoss, "0"), in_force({"max_depth"}, "6"),
                     in_force(kLambda, "1"));
}

// Every "name":"value" of the JSON: parameters, under all of their names, have text values.
std::vector<std::string> TextKeys(std::string_view json) {
  std::vector<std::string> keys;
  constexpr std::string_view kMiddle = "\":\"";
  for (std::size_t end = json.find(kMiddle); end != std::string_view::npos;
       end = json.find(kMiddle, end + 1)) {
    const std::size_t begin = json.rfind('"', end - 1) + 1;
    keys.emplace_back(json.substr(begin, end - begin));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace

GbmParameters XgboostWithoutEarlyStopping(const GbmParameters& parameters) {
  GbmParameters result = parameters;
  for (const char* name : kEarlyStopping) result.erase(name);
  return result;
}

GbmParameters XgboostFoldParameters(const GbmParameters& parameters) {
  GbmParameters result = XgboostWithoutEarlyStopping(parameters);
  for (const char* name : kNumThreads) result.erase(name);
  result.emplace("nthread", "1");
  return result;
}

int XgboostThreads(const GbmParameters& parameters) {
  const auto threads = FindParameter(parameters, kNumThreads);
  return threads ? static_cast<int>(std::max<std::int64_t>(0, ToInteger(*threads))) : 0;
}

XgboostSettings ReadXgboostParameters(const GbmParameters& parameters, Task task,
                                      std::size_t num_scores) {
  XgboostSettings settings;
  settings.objective = Objective(parameters, task);
  settings.num_scores = num_scores;
  CheckNumClass(parameters, task, num_scores);
  CheckCarried(parameters);
  if (const auto rounds = FindParameter(parameters, kNumRounds)) {
    settings.num_rounds = ToInteger(*rounds);
  }
  if (const auto stopping = FindParameter(parameters, kEarlyStopping)) {
    // 0 or less turns it off, as in LightGBM.
    settings.early_stopping_rounds = std::max<std::int64_t>(0, ToInteger(*stopping));
  }
  settings.num_threads = XgboostThreads(parameters);
  if (const auto rate = FindParameter(parameters, kLearningRate)) {
    settings.learning_rate = ToDouble(*rate);
  }
  if (const auto validate = FindParameter(parameters, {"validate_parameters"})) {
    settings.check_names = ToBool(*validate);
  }
  settings.samples = Samples(parameters);
  settings.has_base_score = parameters.contains("base_score");
  settings.stall_hint = StallHint(parameters);
  settings.parameters = parameters;
  for (const Names& names : {kNumRounds, kEarlyStopping}) {
    for (const char* name : names) settings.parameters.erase(name);
  }
  settings.parameters["objective"] = settings.objective;
  if (task == Task::kMulticlass) settings.parameters["num_class"] = std::to_string(num_scores);
  return settings;
}

void CheckXgboostNames(const XgboostSettings& settings, const std::string& config) {
  if (!settings.check_names) return;
  std::vector<std::string> known = TextKeys(config);
  known.insert(known.end(), kOutsideConfig.begin(), kOutsideConfig.end());
  for (const auto& [name, value] : settings.parameters) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::vector<std::string> near = NearestNames(name, known);
    throw std::invalid_argument(fmt::format(
        "parameters: '{}'; allowed: what this XGBoost knows{} (validate_parameters=false lets "
        "others pass)",
        name, near.empty() ? "" : fmt::format(", such as {}", Joined(near))));
  }
}

XgboostBinning ReadXgboostBinning(const GbmParameters& parameters) {
  XgboostBinning binning;
  binning.num_threads = XgboostThreads(parameters);
  if (const auto max_bin = FindParameter(parameters, {"max_bin"})) {
    binning.max_bin = ToInteger(*max_bin);
    RequireAtLeast<std::int64_t>("max_bin", binning.max_bin, 2);
  }
  // These read a plain DMatrix only; everything else is a form of `hist`.
  const auto method = FindParameter(parameters, {"tree_method"});
  const auto updater = FindParameter(parameters, {"updater"});
  const bool by_method = method && (method->value == "exact" || method->value == "approx");
  const bool by_updater = updater && (updater->value.find("grow_colmaker") != std::string::npos ||
                                      updater->value.find("grow_histmaker") != std::string::npos);
  binning.has_bins = !by_method && !by_updater;
  return binning;
}

}  // namespace bregboost::detail
