#include "learners/detail/lightgbm_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <limits>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "bregboost/problem/parser.h"
#include "learners/detail/lightgbm_api.h"
#include "learners/detail/parameter_text.h"
#include "problem/detail/text.h"

namespace bregboost::detail {
namespace {

using Names = std::initializer_list<const char*>;  // the parameter, then its aliases

constexpr Names kObjective = {"objective", "objective_type", "app", "application", "loss"};
constexpr Names kNumClass = {"num_class", "num_classes"};
constexpr Names kBoosting = {"boosting", "boosting_type", "boost"};
constexpr Names kNumIterations = {"num_iterations",  "num_iteration", "n_iter",     "num_tree",
                                  "num_trees",       "num_round",     "num_rounds", "nrounds",
                                  "num_boost_round", "n_estimators",  "max_iter"};
constexpr Names kEarlyStopping = {"early_stopping_round", "early_stopping_rounds", "early_stopping",
                                  "n_iter_no_change"};
constexpr Names kNumThreads = {"num_threads", "num_thread", "nthread", "nthreads", "n_jobs"};
constexpr Names kLearningRate = {"learning_rate", "shrinkage_rate", "eta"};
constexpr Names kLinearTree = {"linear_tree", "linear_trees"};
constexpr Names kUnbalance = {"is_unbalance", "unbalance", "unbalanced_sets"};
constexpr Names kBagging = {"bagging_fraction", "sub_row", "subsample", "bagging"};
constexpr Names kPositiveBagging = {"pos_bagging_fraction", "pos_sub_row", "pos_subsample",
                                    "pos_bagging"};
constexpr Names kNegativeBagging = {"neg_bagging_fraction", "neg_sub_row", "neg_subsample",
                                    "neg_bagging"};
constexpr Names kFeatureFraction = {"feature_fraction", "sub_feature", "colsample_bytree"};
constexpr Names kFeatureFractionByNode = {"feature_fraction_bynode", "sub_feature_bynode",
                                          "colsample_bynode"};
constexpr Names kExtraTrees = {"extra_trees", "extra_tree"};
constexpr Names kMinData = {"min_data_in_leaf", "min_data_per_leaf", "min_data",
                            "min_child_samples", "min_samples_leaf"};
constexpr Names kMinHessian = {"min_sum_hessian_in_leaf", "min_sum_hessian_per_leaf",
                               "min_sum_hessian", "min_hessian", "min_child_weight"};
constexpr Names kMinGain = {"min_gain_to_split", "min_split_gain"};
constexpr Names kVerbosity = {"verbosity", "verbose"};
constexpr Names kSeed = {"seed", "random_seed", "random_state"};

// What decides the draws of rows, features and thresholds.
struct DrawSeed {
  Names names;
  std::int64_t by_default;
};
constexpr DrawSeed kDrawSeeds[] = {{{"bagging_seed", "bagging_fraction_seed"}, 3},
                                   {{"feature_fraction_seed"}, 2},
                                   {{"extra_seed"}, 6}};

// Taken out before LightGBM sees the rest, so known whatever its version.
constexpr Names kTakenOut[] = {kObjective, kNumClass, kNumIterations, kEarlyStopping};

// LightGBM reads such values in any case.
bool IsOneOf(std::string value, Names allowed) {
  std::transform(value.begin(), value.end(), value.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

[[noreturn]] void Refuse(const ParameterText& parameter, std::string_view why) {
  throw std::invalid_argument(fmt::format("{}: {}; {}", parameter.name, parameter.value, why));
}

void CheckObjective(const GbmParameters& parameters, Task task, LossKind loss) {
  const auto objective = FindParameter(parameters, kObjective);
  if (!objective) return;
  const std::string& value = objective->value;
  switch (task) {
    case Task::kBinary:
      if (IsOneOf(value, {"binary"})) return;
      Refuse(*objective, "allowed with two classes: binary");
    case Task::kMulticlass:
      if (IsOneOf(value, {"multiclass", "softmax"})) return;
      Refuse(*objective,
             "allowed with more than two classes: multiclass (one-vs-all scores are no softmax, "
             "which the constraints and the exported model rest on)");
    case Task::kRegression:
      if (loss == LossKind::kHuber && IsOneOf(value, {"huber"})) return;
      if (loss == LossKind::kSquared &&
          IsOneOf(value, {"regression", "regression_l2", "l2", "mean_squared_error", "mse",
                          "l2_root", "root_mean_squared_error", "rmse"})) {
        return;
      }
      Refuse(*objective, fmt::format("allowed with the loss '{}': {}", Name(loss),
                                     loss == LossKind::kHuber ? "huber" : "regression"));
  }
}

void CheckNumClass(const GbmParameters& parameters, std::size_t num_scores) {
  const auto num_class = FindParameter(parameters, kNumClass);
  if (!num_class || ToInteger(*num_class) == static_cast<std::int64_t>(num_scores)) return;
  Refuse(*num_class, fmt::format("allowed with these labels: {}", num_scores));
}

void RequireNumber(const GbmParameters& parameters, Names names, double allowed, const char* why) {
  const auto given = FindParameter(parameters, names);
  if (!given || ToDouble(*given) == allowed) return;
  Refuse(*given, fmt::format("allowed: {} ({})", allowed, why));
}

// LightGBM would ignore these without a word: they act through its own objectives and loop, and
// ours take their place.
void CheckHeeded(const GbmParameters& parameters, const LossOptions& loss) {
  for (const Names& names : {kPositiveBagging, kNegativeBagging}) {
    RequireNumber(parameters, names, 1.0,
                  "LightGBM draws by class for its own objective only; bagging_fraction draws from "
                  "all rows");
  }
  if (const auto root = FindParameter(parameters, {"reg_sqrt"}); root && ToBool(*root)) {
    Refuse(*root, "allowed: false (the loss is that of the target as it is; or give its root)");
  }
  RequireNumber(parameters, {"early_stopping_min_delta"}, 0.0,
                "any fall of the held-out loss counts as progress");
  if (loss.kind == LossKind::kHuber) {
    RequireNumber(parameters, {"alpha"}, loss.huber_delta,
                  "where the Huber loss turns linear is the objective's huber_delta");
  }
}

// Each would make the model differ from what its scores say, or is a cost of its own.
void CheckCarried(const GbmParameters& parameters, Task task) {
  if (const auto boosting = FindParameter(parameters, kBoosting)) {
    if (IsOneOf(boosting->value, {"dart"})) {
      Refuse(*boosting,
             "allowed: gbdt, goss (dart re-weights earlier trees in every round, so a proximal "
             "step has no fixed model to start from)");
    }
    if (IsOneOf(boosting->value, {"rf", "random_forest"})) {
      Refuse(*boosting, "allowed: gbdt, goss (a forest does not go on from its current scores)");
    }
  }
  if (const auto linear = FindParameter(parameters, kLinearTree); linear && ToBool(*linear)) {
    Refuse(*linear, "allowed: false (offsets and averages cannot be folded into linear leaves)");
  }
  if (task != Task::kBinary) return;
  if (const auto unbalance = FindParameter(parameters, kUnbalance);
      unbalance && ToBool(*unbalance)) {
    Refuse(*unbalance, "allowed: false (constraints set the class weights; or give row weights)");
  }
  if (const auto weight = FindParameter(parameters, {"scale_pos_weight"});
      weight && ToDouble(*weight) != 1.0) {
    Refuse(*weight, "allowed: 1 (constraints set the class weights; or give row weights)");
  }
  if (const auto sigmoid = FindParameter(parameters, {"sigmoid"});
      sigmoid && ToDouble(*sigmoid) != 1.0) {
    Refuse(*sigmoid, "allowed: 1 (scores are log-odds)");
  }
}

bool BelowOne(const GbmParameters& parameters, Names names) {
  const auto fraction = FindParameter(parameters, names);
  return fraction && ToDouble(*fraction) < 1.0;
}

bool Samples(const GbmParameters& parameters) {
  const auto boosting = FindParameter(parameters, kBoosting);
  const auto strategy = FindParameter(parameters, {"data_sample_strategy"});
  const auto extra = FindParameter(parameters, kExtraTrees);
  return BelowOne(parameters, kBagging) || BelowOne(parameters, kFeatureFraction) ||
         BelowOne(parameters, kFeatureFractionByNode) || (extra && ToBool(*extra)) ||
         (boosting && IsOneOf(boosting->value, {"goss"})) ||
         (strategy && IsOneOf(strategy->value, {"goss"}));
}

std::string StallHint(const GbmParameters& parameters) {
  const auto in_force = [&](Names names, const char* by_default) {
    const auto given = FindParameter(parameters, names);
    return fmt::format("{} = {}", *names.begin(), given ? given->value : by_default);
  };
  return fmt::format("{}, {}, {}", in_force(kMinData, "20"), in_force(kMinHessian, "0.001"),
                     in_force(kMinGain, "0"));
}

GbmParameters Without(GbmParameters parameters, std::span<const Names> all) {
  for (const Names& names : all) {
    for (const char* name : names) parameters.erase(name);
  }
  return parameters;
}

// Every parameter and alias: in the library's JSON of them nothing else is in quotes.
std::vector<std::string> KnownNames(const LightGbmApi& api) {
  std::string json(std::size_t{1} << 16, '\0');
  std::int64_t needed = 0;  // counts the terminating zero
  const auto dump = [&] {
    api.Check(api.DumpParamAliases(static_cast<std::int64_t>(json.size()), &needed, json.data()),
              "listing parameters");
  };
  dump();
  if (static_cast<std::size_t>(needed) > json.size()) {
    json.resize(static_cast<std::size_t>(needed));
    dump();
  }
  std::vector<std::string> names;
  for (const Names& taken_out : kTakenOut) {
    names.insert(names.end(), taken_out.begin(), taken_out.end());
  }
  for (std::size_t open = json.find('"'); open != std::string::npos;) {
    const std::size_t close = json.find('"', open + 1);
    if (close == std::string::npos) break;
    names.push_back(json.substr(open + 1, close - open - 1));
    open = json.find('"', close + 1);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

void CheckLightGbmNames(const GbmParameters& parameters, const LightGbmApi& api) {
  const std::vector<std::string> known = KnownNames(api);
  for (const auto& [name, value] : parameters) {
    if (std::binary_search(known.begin(), known.end(), name)) continue;
    const std::vector<std::string> near = NearestNames(name, known);
    throw std::invalid_argument(
        fmt::format("parameters: '{}'; allowed: what this LightGBM knows{}", name,
                    near.empty() ? "" : fmt::format(", such as {}", Joined(near))));
  }
}

std::string LightGbmParameterText(const GbmParameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    // LightGBM splits the text at white space.
    if (std::any_of(value.begin(), value.end(), [](unsigned char c) { return std::isspace(c); })) {
      throw std::invalid_argument(
          fmt::format("{}: '{}'; allowed: a value without white space", name, value));
    }
    text += fmt::format("{}={} ", name, value);
  }
  if (!FindParameter(parameters, kVerbosity)) text += "verbosity=-1 ";
  return text;
}

GbmParameters LightGbmDataParameters(const GbmParameters& parameters) {
  return Without(parameters, std::array{kObjective, kNumClass});
}

GbmParameters LightGbmWithoutEarlyStopping(const GbmParameters& parameters) {
  return Without(parameters, std::array{kEarlyStopping});
}

GbmParameters LightGbmFoldParameters(const GbmParameters& parameters) {
  GbmParameters result = Without(parameters, std::array{kNumThreads, kEarlyStopping});
  result.emplace("num_threads", "1");
  return result;
}

int LightGbmThreads(const GbmParameters& parameters) {
  const auto threads = FindParameter(parameters, kNumThreads);
  return threads ? static_cast<int>(std::max<std::int64_t>(0, ToInteger(*threads))) : 0;
}

LightGbmSettings ReadLightGbmParameters(const GbmParameters& parameters, Task task,
                                        std::size_t num_scores, const LossOptions& loss) {
  CheckObjective(parameters, task, loss.kind);
  CheckNumClass(parameters, num_scores);
  CheckHeeded(parameters, loss);
  CheckCarried(parameters, task);
  LightGbmSettings settings;
  if (const auto rounds = FindParameter(parameters, kNumIterations)) {
    settings.num_rounds = ToInteger(*rounds);
  }
  if (const auto stopping = FindParameter(parameters, kEarlyStopping)) {
    settings.early_stopping_rounds = std::max<std::int64_t>(0, ToInteger(*stopping));
  }
  settings.num_threads = LightGbmThreads(parameters);
  if (const auto rate = FindParameter(parameters, kLearningRate)) {
    settings.learning_rate = ToDouble(*rate);
  }
  if (const auto average = FindParameter(parameters, {"boost_from_average"})) {
    settings.boost_from_average = ToBool(*average);
  }
  settings.samples = Samples(parameters);
  settings.stall_hint = StallHint(parameters);
  settings.parameters = Without(parameters, kTakenOut);
  settings.parameters["objective"] = "custom";
  settings.parameters["num_class"] = std::to_string(num_scores);
  settings.Text();  // refuses what has no such form
  return settings;
}

std::string LightGbmSettings::Text(std::int64_t draw) const {
  if (draw == 0) return LightGbmParameterText(parameters);
  // LightGBM's generator is linear: neighbouring seeds have nearly the same first numbers, while
  // multiples of this prime are far apart.
  constexpr std::int64_t kStride = 104729;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  GbmParameters changed = parameters;
  const auto seed_of_all = FindParameter(parameters, kSeed);
  for (const DrawSeed& seed : kDrawSeeds) {
    auto given = FindParameter(parameters, seed.names);
    if (!given) given = seed_of_all;
    const std::int64_t base = given ? ToInteger(*given) % kMost : seed.by_default;
    for (const char* name : seed.names) changed.erase(name);
    changed[*seed.names.begin()] = std::to_string((base + draw % kMost * kStride) % kMost);
  }
  return LightGbmParameterText(changed);
}

}  // namespace bregboost::detail
