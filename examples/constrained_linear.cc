// Trains a linear model on a CSV file under constraints given as text, prints what was asked and
// what was reached, and writes the whole result as JSON. See examples/demo.py for a use.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bregboost/learners/linear.h"
#include "bregboost/solve/abpp.h"
#include "bregboost/solve/cbpr.h"
#include "csv_problem.h"
#include "program.h"

namespace {

using namespace bregboost;  // NOLINT: an example
using nlohmann::json;

struct Settings {
  example::ProblemFlags problem;
  std::string solver = "abpp", form = "proximal", out;
  double l2 = 0.0, tolerance = 1e-6, step_ratio = 1.0;
  std::int64_t max_iterations = 20'000;
  bool no_intercept = false;
};

json ToJson(const IterationStats& row) {
  return {{"phase", Name(row.phase)},
          {"outer", row.outer},
          {"k", row.k},
          {"objective", row.objective},
          {"surrogate_violation", row.surrogate_violation},
          {"exact_violation", row.exact_violation},
          {"stationarity", row.stationarity},
          {"fritz_john", row.fritz_john},
          {"evaluations", row.evaluations},
          {"seconds", row.seconds}};
}

json Solve(const Settings& settings, LinearLearner& learner, RateConstraints& constraints) {
  json result;
  AbppOptions abpp;
  abpp.step_ratio = settings.step_ratio;
  abpp.termination.feasibility_tolerance = settings.tolerance;
  abpp.termination.complementarity_tolerance = settings.tolerance;
  abpp.termination.stationarity_tolerance = settings.tolerance;
  abpp.termination.max_iterations = settings.max_iterations;
  std::vector<IterationStats> history;
  if (settings.solver == "abpp") {
    const AbppResult solved = SolveAbpp(learner, constraints, abpp);
    result["reason"] = Name(solved.reason);
    result["multipliers"] = solved.multipliers;
    history = solved.history;
  } else if (settings.solver == "cbpr") {
    CbprOptions cbpr;
    cbpr.form =
        example::Choose("form", settings.form, {CbprForm::kProximal, CbprForm::kLinearized});
    cbpr.fritz_john_tolerance = settings.tolerance;
    cbpr.max_outer_iterations = settings.max_iterations;
    cbpr.subproblem.step_ratio = settings.step_ratio;
    const CbprResult solved = SolveCbpr(learner, constraints, cbpr);
    result["reason"] = Name(solved.reason);
    result["multipliers"] = solved.multipliers;
    result["proximal_weight"] = solved.proximal_weight;
    result["fritz_john"] = solved.fritz_john.worst();
    result["feasibility"] = {{"needed", solved.feasibility.needed},
                             {"reason", Name(solved.feasibility.reason)},
                             {"start_violation", solved.feasibility.start_violation},
                             {"smallest_violation", solved.feasibility.smallest_violation},
                             {"values", solved.feasibility.values}};
    history = solved.history;
  } else {
    throw std::invalid_argument(fmt::format("solver: '{}'; allowed: abpp, cbpr", settings.solver));
  }
  result["last"] = ToJson(history.back());
  result["iterations"] = history.back().k;
  return result;
}

void Print(const json& result, const std::vector<Measurement>& limits) {
  fmt::print("{} after {} iterations, {} derivative evaluations, {:.2f} s\n",
             result["reason"].get<std::string>(), result["iterations"].get<std::int64_t>(),
             result["last"]["evaluations"].get<std::int64_t>(),
             result["last"]["seconds"].get<double>());
  fmt::print("objective {:.6f}\n\n", result["objective"].get<double>());
  example::PrintLimits(limits);
}

void Run(const Settings& settings) {
  const example::Table table = example::LoadTable(settings.problem, example::Features::kNumbers);
  example::Problem problem(table, settings.problem);
  const FeatureMatrix features = FeatureMatrix::DenseColumnMajor(
      table.features.values, table.features.num_rows, table.features.names.size());
  LinearOptions linear;
  linear.l2 = settings.l2;
  linear.fit_intercept = !settings.no_intercept;
  LinearLearner learner(features, problem.objective, linear);

  json result = Solve(settings, learner, problem.constraints);
  result["objective"] = learner.objective();
  const Eigen::MatrixXd coefficients = learner.coefficients();
  const Eigen::VectorXd intercept = learner.intercept();
  result["coefficients"] =
      std::vector<double>(coefficients.data(), coefficients.data() + coefficients.size());
  result["intercept"] = std::vector<double>(intercept.data(), intercept.data() + intercept.size());
  result["features"] = table.features.names;
  result["surrogate_values"] = problem.constraints.Evaluate(learner.scores()).surrogate;
  result["constraints"] = json::array();
  const std::vector<Measurement> limits = problem.constraints.Measure(learner.scores());
  for (const Measurement& row : limits) result["constraints"].push_back(example::ToJson(row));
  Print(result, limits);
  if (!settings.out.empty()) example::WriteFile("out", settings.out, result.dump(1) + '\n');
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"Train a linear model under limits on rates", "constrained_linear"};
  example::AddFlags(app, settings.problem);
  app.add_option("--solver", settings.solver, "abpp or cbpr");
  app.add_option("--form", settings.form, "of cbpr: proximal or linearized");
  app.add_option("--l2", settings.l2, "penalty on coefficients");
  app.add_option("--tolerance", settings.tolerance, "on every optimality residual");
  app.add_option("--step-ratio", settings.step_ratio, "sqrt of primal over dual step");
  app.add_option("--max-iterations", settings.max_iterations, "of ABPP, or outer ones of CBPR");
  app.add_flag("--no-intercept", settings.no_intercept, "leave the intercept out");
  app.add_option("--out", settings.out, "write the result here as JSON");
  return example::RunProgram(app, argc, argv, [&] { Run(settings); });
}
