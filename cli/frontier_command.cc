#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "bregboost/problem/constraint_error.h"
#include "bregboost/problem/parser.h"
#include "bregboost/report/fit_json.h"
#include "command.h"
#include "data_flags.h"
#include "delimited_output.h"
#include "fit_flags.h"
#include "output.h"
#include "progress.h"
#include "run_output.h"
#include "text_tables.h"
#include "trainer.h"

namespace bregboost::cli {
namespace {

constexpr const char* kExample =
    "  bregboost frontier --data adult.csv --label income --sweep 'gap(error, by=sex)' \\\n"
    "    --from 10% --to 1% --points 10 --out frontier/\n"
    "\n"
    "frontier/ holds frontier.csv, and a run as of `train` for the tightest bound that holds:\n"
    "its model, bregboost.json and report.html, in which the whole frontier is shown.";

struct Settings {
  CommonFlags common;
  DataFlags data;
  FitFlags fit;
  std::string sweep, from, to, out;
  std::size_t points = 10;
  bool force = false;
};

// "gap(error, by=sex)" and a number: with the sign that the rate allows.
Constraint Swept(const std::string& what, const std::string& bound) {
  try {
    return ParseConstraint(fmt::format("{} <= {}", what, bound));
  } catch (const ConstraintError& at_most) {
    switch (at_most.code()) {
      case ConstraintErrorCode::kRatioUpperBound:
      case ConstraintErrorCode::kPrecisionUpperBound:
      case ConstraintErrorCode::kAggregateDirection:
        break;
      default:
        throw Failure(ExitCode::kUsage, at_most.what());
    }
  }
  Constraint constraint;
  As(ExitCode::kUsage, [&] { constraint = ParseConstraint(fmt::format("{} >= {}", what, bound)); });
  return constraint;
}

// To twelve digits, so that 2% does not read 2.0000000000000004%.
std::vector<double> Between(double from, double to, std::size_t points) {
  constexpr double kDigits = 1e12;
  std::vector<double> bounds;
  for (std::size_t p = 0; p < points; ++p) {
    const double share =
        points == 1 ? 0.0 : static_cast<double>(p) / static_cast<double>(points - 1);
    bounds.push_back(std::round((from + share * (to - from)) * kDigits) / kDigits);
  }
  return bounds;
}

std::string FrontierCsv(const Frontier& frontier, const std::vector<Constraint>& constraints) {
  std::vector<std::string> header = {"bound", "objective", "violation", "dominated"};
  for (const Constraint& constraint : constraints) {
    const std::string text = ToText(constraint);
    header.push_back(text.substr(0, text.find_last_of("<>") - 1));
  }
  std::string csv = DelimitedLine(header);
  for (const FrontierPoint& point : frontier.points) {
    std::vector<std::string> row = {
        fmt::format("{}", point.bound), fmt::format("{}", point.objective),
        fmt::format("{}", point.total_violation), point.dominated ? "yes" : "no"};
    for (const Measurement& measured : point.measurements) {
      row.push_back(fmt::format("{}", measured.value));
    }
    csv += DelimitedLine(row);
  }
  return csv;
}

std::string TextOf(const Frontier& frontier, const Constraint& swept) {
  std::vector<std::vector<std::string>> rows = {
      {"bound", "measured", "objective", "violation", "worth choosing"}};
  for (const FrontierPoint& point : frontier.points) {
    rows.push_back({Amount(swept, point.bound), Amount(swept, point.measurements[0].value),
                    fmt::format("{:.4f}", point.objective),
                    fmt::format("{:.4f}", point.total_violation), point.dominated ? "no" : "yes"});
  }
  return AlignedTable(rows);
}

// The tightest bound that holds; if none does, the loosest.
double Chosen(const Frontier& frontier, Relation relation) {
  const double sign = relation == Relation::kAtMost ? 1.0 : -1.0;
  const FrontierPoint* chosen = nullptr;
  for (const FrontierPoint& point : frontier.points) {
    if (point.total_violation > 0.0) continue;
    if (chosen == nullptr || sign * point.bound < sign * chosen->bound) chosen = &point;
  }
  if (chosen != nullptr) return chosen->bound;
  return std::max_element(frontier.points.begin(), frontier.points.end(),
                          [&](const FrontierPoint& a, const FrontierPoint& b) {
                            return sign * a.bound < sign * b.bound;
                          })
      ->bound;
}

void SweepAndFit(const Settings& settings, const LoadedRows& training,
                 std::vector<Constraint> constraints, const FrontierOptions& sweep,
                 OutputFolder& folder) {
  const Trainer trainer(settings.fit, training);
  const FitOptions options = FitOptionsOf(settings.fit);
  std::optional<Frontier> frontier;
  {
    Progress progress("sweeping", StepsOf(settings.fit), settings.common.quiet);
    frontier = trainer.Sweep(constraints, options, sweep, progress.hooks());
  }
  constraints[0].bound = Chosen(*frontier, constraints[0].relation);
  std::optional<AutoFit> fit;
  {
    Progress progress("training", StepsOf(settings.fit), settings.common.quiet);
    fit = trainer.Fit(constraints, options, progress.hooks());
  }
  RunDocument document = DocumentOf(settings.data, settings.fit, training, trainer);
  document.fit = ToJson(fit->report());
  document.frontier = ToJson(*frontier);
  if (const auto unlimited = WithoutLimits(settings.fit, trainer, *fit, settings.common.quiet)) {
    document.unconstrained = ToJson(*unlimited);
  }
  folder.Write("frontier.csv", FrontierCsv(*frontier, constraints));
  WriteRun(document, trainer, trainer.ModelFile(*fit), folder);
  folder.Publish();
  if (settings.common.json) {
    fmt::print("{}\n", ToJson(*frontier));
  } else {
    fmt::print("{}Chosen: {}\nWritten to {}: frontier.csv, {}, bregboost.json, report.html\n",
               TextOf(*frontier, constraints[0]), ToText(constraints[0]), settings.out,
               trainer.ModelName());
  }
}

void Run(const Settings& settings) {
  std::vector<Constraint> constraints = {Swept(settings.sweep, settings.from)};
  const double to = Swept(settings.sweep, settings.to).bound;
  for (const Constraint& other : ConstraintsOf(settings.fit.constraints)) {
    constraints.push_back(other);
  }
  const FrontierOptions sweep{.constraint = 0,
                              .bounds = Between(constraints[0].bound, to, settings.points)};
  const bool linear = LearnerOf(settings.fit) == LearnerKind::kLinear;
  FitOptionsOf(settings.fit);  // complains before anything is read
  LimitThreads(settings.fit);
  OutputFolder folder(settings.out, settings.force);
  const LoadedRows training = LoadForTraining(settings.data, constraints, linear);
  As(ExitCode::kUsage, [&] { SweepAndFit(settings, training, constraints, sweep, folder); });
  if (Progress::interrupted()) {
    throw Failure(ExitCode::kInterrupted, "interrupted: the frontier is of the steps made by then");
  }
}

}  // namespace

void AddFrontierCommand(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  CLI::App& command = AddCommand(app, "frontier", "Find out what a limit costs, bound by bound",
                                 kExample, settings->common);
  AddDataFlags(command, settings->data, Labels::kNeeded);
  command.add_option("--sweep", settings->sweep, "The rate whose bound is swept")
      ->type_name("RATE")
      ->required();
  command.add_option("--from", settings->from, "First bound, such as 10%")->required();
  command.add_option("--to", settings->to, "Last bound")->required();
  command.add_option("--points", settings->points, "Number of bounds")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  AddFitFlags(command, settings->fit, FitCommand::kSweep);
  AddOutFolderFlags(command, settings->out, settings->force);
  command.callback([settings] { Run(*settings); });
}

}  // namespace bregboost::cli
