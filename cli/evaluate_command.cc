#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "bregboost/problem/rate_problem.h"
#include "bregboost/report/fit_json.h"
#include "command.h"
#include "data_flags.h"
#include "fit_flags.h"
#include "run_folder.h"
#include "text_tables.h"

namespace bregboost::cli {
namespace {

constexpr const char* kExample =
    "  bregboost evaluate --model run/ --data test.csv --constraint 'fnr <= 5%'\n"
    "\n"
    "Measures the limits of the run, or those given, on labelled rows. What it finds is an\n"
    "estimate; `certify` says how far it can be trusted.";

struct Settings {
  CommonFlags common;
  DataFlags data;
  Requirement requirement;
  std::vector<std::string> constraints;
  std::string model, objective, library;
};

void Run(const Settings& settings) {
  const std::vector<Constraint> given = ConstraintsOf(settings.constraints);
  const RunFolder run = ReadRunFolder(settings.model);
  const std::vector<Constraint>& constraints = given.empty() ? run.constraints : given;
  const StoredModel model = ReadModel(settings.model, run, settings.library);
  const LoadedRows rows = LoadForModel(settings.data, run.encoding, constraints, run.positive,
                                       /*with_labels=*/true);
  As(ExitCode::kData, [&] {
    const std::vector<double> scores = model.Scores(rows.features());
    const bool regression = run.encoding.classes.empty();
    std::string objective = settings.objective.empty() ? run.objective : settings.objective;
    if (objective.empty()) objective = regression ? "loss" : "accuracy";
    const LossOptions loss{.kind = regression ? LossKind::kSquared : LossKind::kCrossEntropy};
    const RateProblem problem(constraints, ParseObjective(objective), rows.rows(), loss,
                              EmptySubsetPolicy::kUndefined);
    const std::vector<double> sums = problem.rates().ExactSums(scores);
    const std::vector<Measurement> measured = problem.Measure(sums);
    const bool holds =
        std::all_of(measured.begin(), measured.end(), [](const auto& m) { return m.satisfied; });
    if (!settings.common.quiet) Warn(rows.warnings());
    if (settings.common.json) {
      const nlohmann::json result = {
          {"rows", rows.num_rows()},
          {"objective_name", objective},
          {"objective", problem.ObjectiveValue(sums)},
          {"constraints", nlohmann::json::parse(MeasuredJson(problem, sums))},
          {"holds", holds}};
      fmt::print("{}\n", result.dump(1));
    } else {
      const double value = problem.ObjectiveValue(sums);
      fmt::print("{} {} on {} rows\n", objective,
                 regression ? fmt::format("{:.4g}", value) : fmt::format("{:.2f}%", 100.0 * value),
                 rows.num_rows());
      if (!constraints.empty()) fmt::print("{}", TextOf(measured, constraints));
    }
    Demand(settings.requirement, holds, /*certified=*/false);
  });
}

}  // namespace

void AddEvaluateCommand(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  CLI::App& command = AddCommand(app, "evaluate", "Measure limits on the rows of a file", kExample,
                                 settings->common);
  AddModelFlag(command, settings->model)->required();
  AddDataFlags(command, settings->data, Labels::kInModel);
  command
      .add_option("--constraint", settings->constraints,
                  "Limits in place of those of the run; may be repeated")
      ->type_name("TEXT");
  command.add_option("--objective", settings->objective, "A rate in place of that of the run")
      ->type_name("RATE");
  AddRequireFlag(command, settings->requirement);
  AddLibraryFlag(command, settings->library);
  command.callback([settings] { Run(*settings); });
}

}  // namespace bregboost::cli
