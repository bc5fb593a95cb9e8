// Trains LightGBM, XGBoost or a linear model on a CSV file so that limits given as text hold on
// rows that the model has not seen, and writes a plain model: nothing to tune.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>

#include "boosting_flags.h"
#include "bregboost/learners/lightgbm_dataset.h"
#include "bregboost/learners/xgboost_dataset.h"
#include "bregboost/pipeline/fit.h"
#include "bregboost/report/fit_json.h"
#include "csv_problem.h"
#include "program.h"

namespace {

using namespace bregboost;  // NOLINT: an example
using nlohmann::json;

struct Settings {
  example::ProblemFlags problem;
  example::BoostingFlags boosting;
  std::string learner = "lightgbm";
  double l2 = 1e-4;
  std::string validation = "by_cells", deploy = "fold_mean", path = "by_constraints";
  FitOptions fit;
  std::vector<double> loss_range;
  std::string model_file;
  bool print_json = false;
};

std::atomic<bool> interrupted = false;  // by Ctrl-C: training ends, and what there is is written

FitOptions FitOf(const Settings& settings, Task task) {
  FitOptions fit = settings.fit;
  fit.loss = example::LossOf(settings.problem, task);
  fit.validation =
      example::Choose("validation", settings.validation,
                      {Validation::kByCells, Validation::kFolds, Validation::kHoldOut});
  if (settings.loss_range.size() == 2) {
    fit.certification.loss_range = {.low = settings.loss_range[0], .high = settings.loss_range[1]};
  }
  fit.deploy = example::Choose("deploy", settings.deploy, {Deploy::kFoldMean, Deploy::kRefit});
  fit.solver.path = example::Choose(
      "path", settings.path,
      {TrainingPath::kByConstraints, TrainingPath::kCalibration, TrainingPath::kConstrained});
  return fit;
}

template <class Dataset>
Dataset DatasetOf(const Settings& settings, const example::Table& table) {
  return Dataset::FromArray(FeaturesOf(table.features), example::ParametersOf(settings.boosting),
                            /*reference=*/nullptr, settings.boosting.library);
}

void Print(const FitReport& report) {
  fmt::print("{} path, {} on {} rows, {} model(s)\nobjective on unseen rows {:.4f}\n\n",
             Name(report.unseen.path), Name(report.validation), report.training_rows,
             report.num_models, report.unseen.objective);
  example::PrintLimits(report.unseen.measurements);
  fmt::print("\n{:<44} {:<14} {:>10} {:>10}\n", "constraint", "verdict", "value", "bound");
  for (const ConstraintVerdict& verdict : report.certificate.constraints) {
    fmt::print("{:<44} {:<14} {:>10.4f} {:>10.4f}\n", verdict.text, Name(verdict.verdict),
               verdict.value, verdict.confidence_bound);
  }
  for (const Price& price : report.unseen.prices) {
    if (price.binding) {
      fmt::print("one point more for '{}' buys {:.3f} points (+- {:.3f})\n", price.text,
                 price.price, price.standard_error);
    }
  }
  for (const std::string& warning : report.warnings) fmt::print("{}\n", warning);
}

json CoefficientsToJson(const LinearModel& model) {
  json columns = json::array();
  for (Eigen::Index k = 0; k < model.coefficients.cols(); ++k) {
    const Eigen::VectorXd column = model.coefficients.col(k);
    columns.push_back(std::vector<double>(column.begin(), column.end()));
  }
  return {{"coefficients", columns},
          {"intercept", std::vector<double>(model.intercept.begin(), model.intercept.end())}};
}

void Report(const Settings& settings, const AutoFit& fit, const std::string& model) {
  if (!settings.model_file.empty()) example::WriteFile("out-model", settings.model_file, model);
  // Limits that do not hold are worth the time to say why.
  std::optional<Reachability> reach;
  const bool has_offsets = fit.report().unseen.calibration.has_value();
  if (has_offsets && fit.report().unseen.total_violation > 0.0) reach = fit.Diagnose();
  if (settings.print_json) {
    fmt::print("{}\n", ToJson(fit.report(), reach ? &*reach : nullptr));
    return;
  }
  Print(fit.report());
  if (!reach) return;
  fmt::print("\nOffsets alone reach, on unseen rows:\n");
  for (const ReachableValue& alone : reach->alone) {
    fmt::print("  {}: {:.4f} by itself\n", alone.text, alone.value);
  }
  fmt::print("  all together with bounds loosened by {:.4f}\n", reach->relaxation);
}

void Run(const Settings& settings) {
  std::signal(SIGINT, [](int) { interrupted = true; });
  const bool linear = settings.learner == "linear";
  const example::Table table = example::LoadTable(
      settings.problem, linear ? example::Features::kNumbers : example::Features::kAny,
      settings.boosting.categorical);
  const std::vector<Constraint> constraints = example::ConstraintsOf(settings.problem);
  const FitOptions options = FitOf(settings, table.rows.task());
  const BoostedOptions boosting = example::BoostingOf(settings.boosting);
  const example::ProblemFlags unset;
  if (settings.problem.class_balanced || settings.problem.surrogate != unset.surrogate ||
      settings.problem.bounds != unset.bounds) {
    throw std::invalid_argument(
        "class-balanced, surrogate, bounds: given; allowed here, where exact rates are trained on: "
        "none of them (see --objective)");
  }
  SolveHooks hooks;
  hooks.interrupt = &interrupted;
  if (settings.learner == "lightgbm") {
    const auto data = DatasetOf<LightGbmDataset>(settings, table);
    const AutoFit fit =
        AutoFit::LightGbm({.training = {data, table.rows}}, constraints, boosting, options, hooks);
    Report(settings, fit, fit.Model());
  } else if (settings.learner == "xgboost") {
    const auto data = DatasetOf<XgboostDataset>(settings, table);
    const AutoFit fit =
        AutoFit::Xgboost({.training = {data, table.rows}}, constraints, boosting, options, hooks);
    Report(settings, fit, fit.Model());
  } else if (linear) {
    const FeatureMatrix features = FeatureMatrix::DenseColumnMajor(
        table.features.values, table.features.num_rows, table.features.names.size());
    const AutoFit fit = AutoFit::Linear({.training = {features, table.rows}}, constraints,
                                        {.l2 = settings.l2}, options, hooks);
    Report(settings, fit, CoefficientsToJson(fit.Coefficients()).dump(1));
  } else {
    throw std::invalid_argument(
        fmt::format("learner: '{}'; allowed: lightgbm, xgboost, linear", settings.learner));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  settings.boosting.rounds_per_step = 2;
  CLI::App app{"Train a model whose limits on rates hold on unseen rows", "constrained_auto"};
  example::AddFlags(app, settings.problem);
  example::AddFlags(app, settings.boosting);
  app.add_option("--learner", settings.learner, "lightgbm, xgboost or linear");
  app.add_option("--l2", settings.l2, "of the linear model");
  app.add_option("--objective", settings.fit.objective, "the rate to optimise; default: accuracy");
  app.add_option("--rho", settings.fit.solver.rho,
                 "points of the objective that a point of violation is worth");
  app.add_option("--validation", settings.validation, "by_cells, folds or hold_out");
  app.add_option("--folds", settings.fit.num_folds, "their number");
  app.add_option("--path", settings.path, "by_constraints, calibration or constrained");
  app.add_flag("--all-rounds", settings.fit.solver.all_rounds,
               "keep every round of a plain training, not the best number of them");
  app.add_option("--deploy", settings.deploy, "fold_mean or refit");
  app.add_option("--certify", settings.fit.certify, "share of the rows to set aside for it");
  app.add_option("--delta", settings.fit.certification.delta, "1 - confidence of the certificate");
  app.add_option("--max-weight", settings.fit.certification.max_weight,
                 "the largest weight that any row can have, for certificates of weighted rates");
  app.add_option("--loss-range", settings.loss_range,
                 "the smallest and the largest loss of any row, for certificates of losses")
      ->expected(2);
  app.add_option("--margin", settings.fit.solver.training.margin,
                 "standard errors that group limits are tightened by while training");
  app.add_option("--seed", settings.fit.seed, "of splits and searches");
  app.add_option("--out-model", settings.model_file, "write the model here");
  app.add_flag("--json", settings.print_json, "print the whole result as JSON");
  return example::RunProgram(app, argc, argv, [&] { Run(settings); });
}
