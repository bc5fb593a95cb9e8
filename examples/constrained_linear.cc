// Trains a linear model on a CSV file under constraints given as text, prints what was asked and
// what was reached, and writes the whole result as JSON. See examples/demo.py for a use.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "bregboost/learners/linear.h"
#include "bregboost/problem/objective.h"
#include "bregboost/problem/parser.h"
#include "bregboost/problem/rate_constraints.h"
#include "bregboost/solve/abpp.h"
#include "bregboost/solve/cbpr.h"
#include "numeric_csv.h"

namespace {

using namespace bregboost;  // NOLINT: an example
using nlohmann::json;

struct Settings {
  std::string data, label, target, positive, weight, out;
  std::vector<std::string> groups, constraints;
  std::string solver = "abpp", form = "proximal", surrogate = "cross_entropy", bounds = "same";
  std::string loss;
  double l2 = 0.0, tolerance = 1e-6, step_ratio = 1.0, huber_delta = 1.0, temperature = 1.0;
  std::int64_t max_iterations = 20'000;
  bool no_intercept = false, class_balanced = false;
};

template <class Enum>
Enum Choose(const std::string& option, const std::string& word, std::initializer_list<Enum> all) {
  std::string allowed;
  for (const Enum value : all) {
    if (Name(value) == word) return value;
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", Name(value));
  }
  throw std::invalid_argument(fmt::format("{}: '{}'; allowed: {}", option, word, allowed));
}

struct Problem {
  RowData rows;
  std::vector<double> features;  // column-major
  std::vector<std::string> feature_names;
};

Problem Load(const Settings& settings) {
  const example::Csv csv = example::ReadCsv(settings.data);
  std::set<std::string> taken(settings.groups.begin(), settings.groups.end());
  taken.insert({settings.label, settings.target, settings.weight});
  Problem problem;
  for (const std::string& group : settings.groups) {
    problem.rows.groups.push_back(EncodeColumn(group, example::ColumnOf(csv, group)));
  }
  if (!settings.weight.empty()) problem.rows.weights = example::NumbersOf(csv, settings.weight);
  if (!settings.target.empty()) {
    problem.rows.targets = example::NumbersOf(csv, settings.target);
  } else {
    problem.rows.labels = EncodeColumn(settings.label, example::ColumnOf(csv, settings.label));
    const auto& levels = problem.rows.labels.levels;
    const auto found = std::find(levels.begin(), levels.end(), settings.positive);
    if (found != levels.end()) {
      problem.rows.positive_class = static_cast<std::int32_t>(found - levels.begin());
    } else if (!settings.positive.empty()) {
      throw std::invalid_argument(fmt::format("positive: '{}' is not a label", settings.positive));
    }
  }
  for (const std::string& name : csv.header) {
    if (taken.contains(name)) continue;
    const std::vector<double> values = example::NumbersOf(csv, name);
    problem.features.insert(problem.features.end(), values.begin(), values.end());
    problem.feature_names.push_back(name);
  }
  return problem;
}

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
    cbpr.form = Choose("form", settings.form, {CbprForm::kProximal, CbprForm::kLinearized});
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

void Print(const json& result) {
  fmt::print("{} after {} iterations, {} derivative evaluations, {:.2f} s\n",
             result["reason"].get<std::string>(), result["iterations"].get<std::int64_t>(),
             result["last"]["evaluations"].get<std::int64_t>(),
             result["last"]["seconds"].get<double>());
  fmt::print("objective {:.6f}\n\n{:<44} {:>10} {:>10}  {}\n", result["objective"].get<double>(),
             "constraint", "measured", "violation", "holds");
  for (const json& row : result["constraints"]) {
    fmt::print("{:<44} {:>10.4f} {:>10.4f}  {}\n", row["text"].get<std::string>(),
               row["value"].get<double>(), row["violation"].get<double>(),
               row["satisfied"].get<bool>() ? "yes" : "no");
  }
}

void Run(const Settings& settings) {
  const Problem problem = Load(settings);
  const bool regression = problem.rows.task() == Task::kRegression;
  const std::string loss = !settings.loss.empty() ? settings.loss
                           : regression           ? "squared"
                                                  : "cross_entropy";
  const LossOptions loss_options{
      .kind = Choose("loss", loss, {LossKind::kCrossEntropy, LossKind::kSquared, LossKind::kHuber}),
      .huber_delta = settings.huber_delta};
  const SurrogateOptions surrogate{
      .kind = Choose(
          "surrogate", settings.surrogate,
          {SurrogateKind::kCrossEntropy, SurrogateKind::kLogisticBase2,
           SurrogateKind::kHingeSquared, SurrogateKind::kHuberisedHinge, SurrogateKind::kSigmoid}),
      .temperature = settings.temperature,
      .bound_rule = Choose("bounds", settings.bounds,
                           {SurrogateBoundRule::kSame, SurrogateBoundRule::kUniformThenCurrent,
                            SurrogateBoundRule::kNegativeLog})};
  std::vector<Constraint> parsed;
  for (const std::string& text : settings.constraints) parsed.push_back(ParseConstraint(text));

  RateConstraints constraints(parsed, problem.rows, surrogate, loss_options);
  const Objective objective(
      problem.rows, {.loss = loss_options,
                     .weighting = settings.class_balanced ? ObjectiveWeighting::kClassBalanced
                                                          : ObjectiveWeighting::kRows});
  const FeatureMatrix features = FeatureMatrix::DenseColumnMajor(
      problem.features, problem.rows.num_rows(), problem.feature_names.size());
  LinearOptions linear;
  linear.l2 = settings.l2;
  linear.fit_intercept = !settings.no_intercept;
  LinearLearner learner(features, objective, linear);

  json result = Solve(settings, learner, constraints);
  result["objective"] = learner.objective();
  const Eigen::MatrixXd coefficients = learner.coefficients();
  const Eigen::VectorXd intercept = learner.intercept();
  result["coefficients"] =
      std::vector<double>(coefficients.data(), coefficients.data() + coefficients.size());
  result["intercept"] = std::vector<double>(intercept.data(), intercept.data() + intercept.size());
  result["features"] = problem.feature_names;
  result["surrogate_values"] = constraints.Evaluate(learner.scores()).surrogate;
  result["constraints"] = json::array();
  for (const Measurement& row : constraints.Measure(learner.scores())) {
    result["constraints"].push_back({{"text", row.text},
                                     {"value", row.value},
                                     {"violation", row.violation},
                                     {"satisfied", row.satisfied}});
  }
  Print(result);
  if (!settings.out.empty()) {
    std::ofstream file(settings.out);
    file << result.dump(1) << '\n';
    if (!file) throw std::invalid_argument(fmt::format("out: cannot write '{}'", settings.out));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"Train a linear model under limits on rates"};
  app.add_option("--data", settings.data, "CSV file with a header; other columns are features")
      ->required();
  app.add_option("--label", settings.label, "column with class labels");
  app.add_option("--target", settings.target, "column with a numeric target");
  app.add_option("--positive", settings.positive, "the positive class; default: the larger one");
  app.add_option("--weight", settings.weight, "column with row weights");
  app.add_option("--group", settings.groups, "group column; may be repeated");
  app.add_option("--constraint", settings.constraints, "e.g. 'fnr <= 5%'; may be repeated");
  app.add_option("--solver", settings.solver, "abpp or cbpr");
  app.add_option("--form", settings.form, "of cbpr: proximal or linearized");
  app.add_option("--surrogate", settings.surrogate, "of 0-1 events in constraints");
  app.add_option("--temperature", settings.temperature, "of the sigmoid surrogate");
  app.add_option("--bounds", settings.bounds, "how bounds apply to surrogates");
  app.add_option("--loss", settings.loss, "cross_entropy, squared or huber");
  app.add_option("--huber-delta", settings.huber_delta, "where the Huber loss turns linear");
  app.add_option("--l2", settings.l2, "penalty on coefficients");
  app.add_option("--tolerance", settings.tolerance, "on every optimality residual");
  app.add_option("--step-ratio", settings.step_ratio, "sqrt of primal over dual step");
  app.add_option("--max-iterations", settings.max_iterations, "of ABPP, or outer ones of CBPR");
  app.add_flag("--no-intercept", settings.no_intercept, "leave the intercept out");
  app.add_flag("--class-balanced", settings.class_balanced, "minimise the mean of class losses");
  app.add_option("--out", settings.out, "write the result here as JSON");
  try {
    app.parse(argc, argv);
    if (settings.label.empty() == settings.target.empty()) {
      throw std::invalid_argument("label, target: give one of them");
    }
    Run(settings);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const std::exception& error) {
    std::cerr << "constrained_linear: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
