#include "pipeline/detail/fit_identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "detail/hash.h"
#include "learners/detail/lightgbm_api.h"
#include "learners/detail/xgboost_api.h"

namespace bregboost::detail {
namespace {

void Add(const CategoricalColumn& column, std::uint64_t& hash) {
  AddToHash(std::string_view(column.name), hash);
  for (const std::string& level : column.levels) AddToHash(std::string_view(level), hash);
  for (const std::int32_t code : column.codes) {
    AddToHash(static_cast<std::uint64_t>(static_cast<std::uint32_t>(code)), hash);
  }
}

void Add(const std::vector<double>& values, std::uint64_t& hash) {
  AddToHash(static_cast<std::uint64_t>(values.size()), hash);
  for (const double value : values) AddToHash(value, hash);
}

std::string TextOf(const GbmParameters& parameters) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : parameters) texts.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(texts, " "));
}

}  // namespace

std::string RowsDigest(const RowData& rows) {
  std::uint64_t hash = Mixed(rows.num_rows());
  Add(rows.labels, hash);
  Add(rows.targets, hash);
  for (const CategoricalColumn& group : rows.groups) Add(group, hash);
  Add(rows.weights, hash);
  Add(rows.rate_weights, hash);
  AddToHash(static_cast<std::uint64_t>(static_cast<std::uint32_t>(rows.positive_class)), hash);
  AddToHash(static_cast<std::uint64_t>(rows.baseline.size()), hash);
  for (const std::int32_t code : rows.baseline) {
    AddToHash(static_cast<std::uint64_t>(static_cast<std::uint32_t>(code)), hash);
  }
  return fmt::format("{} rows {:016x}", rows.num_rows(), hash);
}

// Numbers in full: fmt prints the shortest text that reads back as the same number.
std::string SettingsText(const FitOptions& options) {
  const RateTrainingOptions& training = options.solver.training;
  const std::string rho = options.solver.rho ? fmt::format("{}", *options.solver.rho) : "chosen";
  return fmt::format(
      "auto, objective '{}' rho {} path {} all_rounds {} dual_rate {} tau {} loss_tau {} warm_up "
      "{} choose_from "
      "{} margin {} choice "
      "{} "
      "rounds {} multipliers {} validation {} folds {} hold_out {} from {} rows certify {} loss {} "
      "{} deploy {} seed {}",
      options.objective, rho, Name(options.solver.path), options.solver.all_rounds,
      training.dual_rate, training.tau, training.loss_tau, training.warm_up, training.choose_from,
      training.margin, Name(training.choice), training.rounds,
      fmt::join(training.initial_multipliers, ","), Name(options.validation), options.num_folds,
      options.hold_out_share, options.hold_out_rows, options.certify, Name(options.loss.kind),
      options.loss.huber_delta, Name(options.deploy), options.seed);
}

std::string SettingsText(const PaperOptions& options) {
  const auto text = [](const std::optional<double>& step) {
    return step ? fmt::format("{}", *step) : "chosen";
  };
  return fmt::format(
      "{}, surrogate {} temperature {} clip {} bounds {} loss {} {} primal_step {} dual_step {} "
      "average {} form {} inner_steps {}",
      Name(options.solver), Name(options.surrogate.kind), options.surrogate.temperature,
      options.surrogate.clip, Name(options.surrogate.bound_rule), Name(options.loss.kind),
      options.loss.huber_delta, text(options.primal_step), text(options.dual_step),
      options.use_average, Name(options.form), options.inner_steps);
}

void RefuseCheckpoints(const CheckpointOptions& checkpoint) {
  if (checkpoint.directory.empty()) return;
  throw std::invalid_argument(
      fmt::format("checkpoint_dir: '{}'; allowed for linear models, which are trained in one go: "
                  "none",
                  checkpoint.directory));
}

LibraryInfo LibraryOf(const LightGbmDataset& data) { return FindLightGbm(data.api()->path()); }
LibraryInfo LibraryOf(const XgboostDataset& data) { return FindXgboost(data.api()->path()); }

TrainingIdentity IdentityOf(const FitParts& parts) {
  const auto digest = [](const RowData* rows) {
    return rows == nullptr ? std::string("none") : RowsDigest(*rows);
  };
  std::vector<std::string> texts;
  for (const Constraint& constraint : parts.constraints) texts.push_back(ToText(constraint));
  return {
      {"version of bregboost", BREGBOOST_VERSION},
      {"library", fmt::format("{} {}", parts.library.name, parts.library.version)},
      {"list of constraints", fmt::format("{}", fmt::join(texts, "; "))},
      {"list of parameters",
       fmt::format("{} rounds_per_step={} early_stopping_rounds={}",
                   TextOf(parts.boosting.parameters), parts.boosting.rounds_per_step,
                   parts.boosting.early_stopping_rounds)},
      {"list of settings", parts.settings},
      {"checkpoint_every", std::to_string(parts.checkpoint.every)},
      {"set of training rows", RowsDigest(parts.training)},
      {"set of evaluation rows", digest(parts.evaluation)},
      {"set of certification rows", digest(parts.certification)},
      {"set of features", parts.checkpoint.data_digest},
  };
}

}  // namespace bregboost::detail
