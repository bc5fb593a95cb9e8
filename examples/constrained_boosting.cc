// Trains LightGBM or XGBoost on a CSV file under constraints given as text, and writes a plain
// model of that library. One booster is held to the limits on its training rows; with --folds
// several grow together, and the limits are held on the rows that each has not seen.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "boosting_flags.h"
#include "bregboost/learners/boosted.h"
#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/lockstep.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "bregboost/pipeline/paper_fit.h"
#include "bregboost/report/fit_json.h"
#include "bregboost/solve/abpp.h"
#include "bregboost/solve/cbpr.h"
#include "csv_problem.h"
#include "program.h"

namespace {

using namespace bregboost;  // NOLINT: an example
using nlohmann::json;

struct Settings {
  example::ProblemFlags problem;
  example::BoostingFlags boosting;
  std::string learner = "lightgbm";
  std::optional<std::int64_t> rounds;
  std::int64_t inner_steps = 20;
  std::string solver = "abpp", form = "proximal";
  std::optional<double> primal_step, dual_step;
  std::string held_out;
  std::size_t folds = 0;
  std::uint64_t seed = 0;
  std::vector<double> offsets;
  double temperature = 1.0;
  std::string model_file, scores_file;
  bool average = false, print_json = false;
};

std::atomic<bool> interrupted = false;  // by Ctrl-C: the solve ends, and what is trained is written

// ---- from flags to the library's options

PaperOptions PaperOf(const Settings& settings) {
  return {
      .primal_step = settings.primal_step,
      .dual_step = settings.dual_step,
      .use_average = settings.average,
      .form = example::Choose("form", settings.form, {CbprForm::kProximal, CbprForm::kLinearized}),
      .inner_steps = settings.inner_steps};
}

// ---- training

// What a solve leaves behind, whichever solver it was.
struct Solved {
  TerminationReason reason;
  std::string detail;
  std::vector<double> multipliers;
};

Solved Solve(const Settings& settings, std::int64_t rounds, ProximalLearner& learner,
             RateConstraints& constraints, const SolveHooks& hooks) {
  const std::int64_t steps =
      (rounds + settings.boosting.rounds_per_step - 1) / settings.boosting.rounds_per_step;
  if (settings.solver == "abpp") {
    AbppResult result =
        SolveAbpp(learner, constraints, AbppOfSteps(PaperOf(settings), steps), hooks);
    return {result.reason, result.detail, result.multipliers};
  }
  if (settings.solver == "cbpr") {
    CbprResult result =
        SolveCbpr(learner, constraints, CbprOfSteps(PaperOf(settings), steps), hooks);
    return {result.reason, result.detail, result.multipliers};
  }
  throw std::invalid_argument(fmt::format("solver: '{}'; allowed: abpp, cbpr", settings.solver));
}

// Every limit as it stands after an iteration, by the name of the rows that it is measured on.
using Limits = std::vector<std::pair<std::string, std::vector<Measurement>>>;

json HistoryRow(const IterationStats& stats, const Limits& limits) {
  json row = json::parse(ToJson(stats));
  for (const auto& [rows, measured] : limits) {
    for (const Measurement& limit : measured) row[rows].push_back(limit.value);
  }
  return row;
}

// Each constraint with its multipliers (a gap has one for each pair of groups) and what was
// measured.
json LimitsToJson(const RateConstraints& constraints, const std::vector<double>& multipliers,
                  const Limits& limits) {
  json result = json::array();
  const auto& compiled = constraints.compiled().constraints;
  for (std::size_t j = 0; j < compiled.size(); ++j) {
    const auto first = multipliers.begin() + static_cast<std::ptrdiff_t>(compiled[j].first_row);
    json row = {
        {"text", limits.front().second[j].text},
        {"multipliers",
         std::vector<double>(first, first + static_cast<std::ptrdiff_t>(compiled[j].num_rows))}};
    for (const auto& [rows, measured] : limits) row[rows] = example::ToJson(measured[j]);
    result.push_back(row);
  }
  return result;
}

void Print(const json& result, const Limits& limits) {
  const std::string detail = result["detail"];
  fmt::print("{} after {} rounds{}{}\nobjective {:.6f}\n", result["reason"].get<std::string>(),
             result["rounds"].dump(), detail.empty() ? "" : ": ", detail,
             result["objective"].get<double>());
  for (const auto& [rows, measured] : limits) {
    if (measured.empty()) continue;
    fmt::print("\n{} rows\n", rows);
    example::PrintLimits(measured);
  }
}

// Raw scores, a column per score, in as many digits as a double has; the fold of each row, if any.
std::string ScoresToCsv(std::span<const double> scores, std::size_t num_rows,
                        std::span<const std::int32_t> fold_of_row) {
  const std::size_t num_scores = scores.size() / num_rows;
  std::string text;
  for (std::size_t k = 0; k < num_scores; ++k) text += fmt::format("{}score_{}", k ? "," : "", k);
  text += fold_of_row.empty() ? "\n" : ",fold\n";
  for (std::size_t i = 0; i < num_rows; ++i) {
    for (std::size_t k = 0; k < num_scores; ++k) {
      text += fmt::format("{}{:.17g}", k ? "," : "", scores[k * num_rows + i]);
    }
    text += fold_of_row.empty() ? "\n" : fmt::format(",{}\n", fold_of_row[i]);
  }
  return text;
}

// What the two kinds of learner differ in after they are made.
struct Trained {
  std::function<Limits()> measure;
  std::function<std::vector<std::int64_t>()> rounds;  // of each booster
  std::span<const std::int32_t> fold_of_row;
};

template <class Learner>
void SolveAndReport(const Settings& settings, example::Problem& problem, Learner& learner,
                    const Trained& trained) {
  json history = json::array();
  SolveHooks hooks;
  hooks.interrupt = &interrupted;
  hooks.on_iteration = [&](const IterationStats& stats) {
    history.push_back(HistoryRow(stats, trained.measure()));
    return true;
  };
  const Solved solved = Solve(settings, settings.rounds.value_or(learner.requested_rounds()),
                              learner, problem.constraints, hooks);

  const Limits limits = trained.measure();
  const json result = {
      {"reason", Name(solved.reason)},
      {"detail", solved.detail},
      {"rounds", trained.rounds()},
      {"objective", learner.objective()},
      {"multipliers", solved.multipliers},
      {"constraints", LimitsToJson(problem.constraints, solved.multipliers, limits)},
      {"history", std::move(history)}};
  if (!settings.model_file.empty()) {
    example::WriteFile(
        "out-model", settings.model_file,
        learner.Model({.temperature = settings.temperature, .offsets = settings.offsets}));
  }
  if (!settings.scores_file.empty()) {
    example::WriteFile(
        "scores", settings.scores_file,
        ScoresToCsv(learner.scores(), problem.objective.rows().num_rows(), trained.fold_of_row));
  }
  if (settings.print_json) {
    fmt::print("{}\n", result.dump(1));
  } else {
    Print(result, limits);
  }
}

struct LightGbm {
  using Dataset = LightGbmDataset;
  static constexpr auto kLearner = &BoostedLearner::LightGbm;
  static constexpr auto kLockstep = &LockstepLearner::LightGbm;
};

struct Xgboost {
  using Dataset = XgboostDataset;
  static constexpr auto kLearner = &BoostedLearner::Xgboost;
  static constexpr auto kLockstep = &LockstepLearner::Xgboost;
};

// Rows that are scored in every round, binned like the training rows.
template <class Dataset>
struct Unseen {
  Unseen(const Settings& settings, const example::Table& training, const Dataset& reference)
      : table(example::LoadHeldOut(settings.held_out, settings.problem, training)),
        problem(table, settings.problem, EmptySubsetPolicy::kUndefined),
        dataset(Dataset::FromArray(FeaturesOf(table.features),
                                   example::ParametersOf(settings.boosting), &reference)) {}

  example::Table table;
  example::Problem problem;
  Dataset dataset;
};

template <class Library>
void TrainOne(const Settings& settings, const example::Table& table, example::Problem& problem,
              const typename Library::Dataset& data) {
  std::unique_ptr<Unseen<typename Library::Dataset>> unseen;
  std::vector<HeldOut<typename Library::Dataset>> held_out;
  if (!settings.held_out.empty()) {
    unseen = std::make_unique<Unseen<typename Library::Dataset>>(settings, table, data);
    held_out.push_back({.dataset = unseen->dataset, .objective = &unseen->problem.objective});
  }
  const auto learner =
      Library::kLearner(data, problem.objective, example::BoostingOf(settings.boosting), held_out);
  Trained trained;
  trained.measure = [&] {
    Limits limits = {{"training", problem.constraints.Measure(learner->scores())}};
    if (unseen) {
      limits.emplace_back("held_out",
                          unseen->problem.constraints.Measure(learner->HeldOutScores(0)));
    }
    return limits;
  };
  trained.rounds = [&] { return std::vector<std::int64_t>{learner->num_rounds()}; };
  SolveAndReport(settings, problem, *learner, trained);
}

template <class Library>
void TrainFolds(const Settings& settings, example::Problem& problem,
                const typename Library::Dataset& data) {
  if (!settings.held_out.empty()) {
    throw std::invalid_argument(
        fmt::format("held-out: '{}'; allowed with folds, which hold rows out themselves: none",
                    settings.held_out));
  }
  const auto learner = Library::kLockstep(data, problem.objective, problem.constraints,
                                          {.boosting = example::BoostingOf(settings.boosting),
                                           .num_folds = settings.folds,
                                           .seed = settings.seed},
                                          /*reserved=*/nullptr);
  Trained trained;
  trained.measure = [&] {
    return Limits{{"out_of_fold", problem.constraints.Measure(learner->scores())}};
  };
  trained.rounds = [&] {
    std::vector<std::int64_t> rounds;
    for (std::size_t k = 0; k < learner->num_folds(); ++k) {
      rounds.push_back(learner->fold(k).num_rounds());
    }
    return rounds;
  };
  trained.fold_of_row = learner->fold_of_row();
  SolveAndReport(settings, problem, *learner, trained);
}

template <class Library>
void Train(const Settings& settings) {
  const example::Table table =
      example::LoadTable(settings.problem, example::Features::kAny, settings.boosting.categorical);
  example::Problem problem(table, settings.problem);
  const auto data = Library::Dataset::FromArray(FeaturesOf(table.features),
                                                example::ParametersOf(settings.boosting),
                                                /*reference=*/nullptr, settings.boosting.library);
  if (settings.folds > 0) {
    TrainFolds<Library>(settings, problem, data);
  } else {
    TrainOne<Library>(settings, table, problem, data);
  }
}

void Run(const Settings& settings) {
  std::signal(SIGINT, [](int) { interrupted = true; });
  if (settings.learner == "lightgbm") return Train<LightGbm>(settings);
  if (settings.learner != "xgboost") {
    throw std::invalid_argument(
        fmt::format("learner: '{}'; allowed: lightgbm, xgboost", settings.learner));
  }
  // XGBoost goes by the name when it reads a model.
  if (!settings.model_file.empty() && !settings.model_file.ends_with(".ubj")) {
    throw std::invalid_argument(fmt::format(
        "out-model: '{}'; allowed with xgboost: a name that ends in .ubj", settings.model_file));
  }
  Train<Xgboost>(settings);
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"Train LightGBM or XGBoost under limits on rates", "constrained_boosting"};
  example::AddFlags(app, settings.problem);
  example::AddFlags(app, settings.boosting);
  app.add_option("--learner", settings.learner, "lightgbm or xgboost");
  app.add_option("--rounds", settings.rounds, "boosting rounds; default: as the parameters say");
  app.add_option("--solver", settings.solver, "abpp or cbpr");
  app.add_option("--form", settings.form, "of cbpr: proximal or linearized");
  app.add_option("--inner-steps", settings.inner_steps, "of cbpr: steps of one sub-problem")
      ->check(CLI::PositiveNumber);
  app.add_option("--primal-step", settings.primal_step, "the first tau; default: computed");
  app.add_option("--dual-step", settings.dual_step, "the first sigma; default: computed");
  app.add_flag("--average", settings.average, "return the average of the iterates (abpp)");
  app.add_option("--held-out", settings.held_out, "CSV file of rows to score but not train on");
  app.add_option("--folds", settings.folds, "boosters that grow together; 0: one, on all rows");
  app.add_option("--seed", settings.seed, "of the folds");
  app.add_option("--offset", settings.offsets, "added to the model's score; repeated for classes");
  app.add_option("--temperature", settings.temperature, "that the model's scores are divided by");
  app.add_option("--out-model", settings.model_file,
                 "write the model here: text of LightGBM, or UBJSON (.ubj) of XGBoost");
  app.add_option("--scores", settings.scores_file,
                 "write the rows' raw scores here, out of fold if there are folds");
  app.add_flag("--json", settings.print_json, "print the whole result as JSON");
  return example::RunProgram(app, argc, argv, [&] { Run(settings); });
}
