#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "bregboost/certify/certificate.h"
#include "bregboost/data/table.h"
#include "bregboost/data/table_rows.h"
#include "bregboost/report/fit_json.h"
#include "command.h"
#include "data_flags.h"
#include "fit_flags.h"
#include "output.h"
#include "run_folder.h"
#include "text_tables.h"

namespace bregboost::cli {
namespace {

constexpr const char* kExample =
    "  bregboost certify --model run/ --data fresh.csv --delta 0.05 --log certified.json\n"
    "  bregboost certify --predicted decision --data scored.csv --label fraud --positive 1 \\\n"
    "    --constraint 'fnr <= 5%'\n"
    "\n"
    "Rows that had no part in making the model say whether limits hold where they come from.\n"
    "The second form takes the decisions of any model from a column of the file. The log\n"
    "remembers rows that were used: they answer once.";

struct Settings {
  CommonFlags common;
  DataFlags data;
  Requirement requirement;
  std::vector<std::string> constraints;
  std::string model, predicted, library, log;
  double delta = 0.1, max_weight = 0.0;
  bool separate_claims = false;
  std::uint64_t seed = 0;
};

// Labels, groups and what some model says of them.
struct Judged {
  RowData rows;
  Predictions predictions;
  std::vector<double> digests;  // tell rows of one label and group apart
  std::vector<std::string> warnings;
};

Judged FromModel(const Settings& settings, const std::vector<Constraint>& given,
                 std::vector<Constraint>& constraints) {
  const RunFolder run = ReadRunFolder(settings.model);
  constraints = given.empty() ? run.constraints : given;
  if (run.encoding.classes.empty()) {
    throw Failure(ExitCode::kUsage,
                  "model: of a numeric target; allowed: of classes. For losses use `train` with "
                  "--certify-data and --loss-range");
  }
  const StoredModel model = ReadModel(settings.model, run, settings.library);
  const LoadedRows loaded = LoadForModel(settings.data, run.encoding, constraints, run.positive,
                                         /*with_labels=*/true);
  Judged judged{.rows = loaded.rows(), .warnings = loaded.warnings()};
  As(ExitCode::kData, [&] {
    const std::vector<double> scores = model.Scores(loaded.features());
    judged.predictions.classes = Decisions(scores, loaded.num_rows());
    judged.digests.assign(scores.begin(),
                          scores.begin() + static_cast<std::ptrdiff_t>(loaded.num_rows()));
  });
  return judged;
}

std::int32_t CodeOf(const std::string& predicted, const std::vector<std::string>& classes) {
  const auto found = std::find(classes.begin(), classes.end(), predicted);
  if (found != classes.end()) return static_cast<std::int32_t>(found - classes.begin());
  throw std::invalid_argument(
      fmt::format("predicted: '{}' is no label; allowed: {}", predicted, fmt::join(classes, ", ")));
}

Judged FromColumn(const Settings& settings, const std::vector<Constraint>& constraints) {
  DataFlags flags = settings.data;
  if (flags.label.empty()) {
    throw Failure(ExitCode::kUsage, "label: none; allowed with --predicted: the column of labels");
  }
  Judged judged;
  flags.categorical.push_back(settings.predicted);
  const LoadedRows loaded = LoadForTraining(flags, constraints, /*linear=*/false);
  judged.rows = loaded.rows();
  As(ExitCode::kData, [&] {
    TableOptions options{.categorical = {settings.predicted}, .only = {settings.predicted}};
    const Table table = ReadTable(flags.data, options);
    const TableColumn& column = ColumnOf(table, settings.predicted);
    std::vector<std::int32_t> code_of_level;
    for (const std::string& level : column.levels) {
      code_of_level.push_back(CodeOf(level, judged.rows.labels.levels));
    }
    for (const std::int32_t code : column.codes) {
      if (code == kMissingCode) {
        throw std::invalid_argument(fmt::format("{}, line {}: predicted: missing; allowed: a class",
                                                flags.data, column.first_missing_line));
      }
      judged.predictions.classes.push_back(code_of_level[static_cast<std::size_t>(code)]);
    }
  });
  return judged;
}

CertificationLog ReadLog(const std::string& path) {
  if (path.empty() || !std::filesystem::exists(path)) return {};
  CertificationLog log;
  As(ExitCode::kData, [&] { log = CertificationLog::FromJson(ReadWholeFile(path)); });
  return log;
}

void Run(const Settings& settings) {
  const std::vector<Constraint> given = ConstraintsOf(settings.constraints);
  if (settings.model.empty() == settings.predicted.empty()) {
    throw Failure(ExitCode::kUsage, "model, predicted: both or none; allowed: one of them");
  }
  CertifyOptions options{.delta = settings.delta, .joint = !settings.separate_claims};
  if (settings.max_weight > 0.0) options.max_weight = settings.max_weight;
  options.seed = settings.seed;
  As(ExitCode::kUsage, [&] { Validate(options); });
  std::vector<Constraint> constraints = given;
  const Judged judged = settings.model.empty() ? FromColumn(settings, constraints)
                                               : FromModel(settings, given, constraints);
  if (constraints.empty()) {
    throw Failure(ExitCode::kUsage, "constraint: none; allowed: one or more");
  }
  CertificationLog log = ReadLog(settings.log);
  if (!settings.log.empty()) options.log = &log;
  options.row_digests = judged.digests;
  Certificate certificate;
  As(ExitCode::kData,
     [&] { certificate = Certify(judged.predictions, judged.rows, constraints, options); });
  if (!settings.log.empty()) WriteOutputFile(settings.log, log.ToJson());
  if (!settings.common.quiet) {
    Warn(judged.warnings);
    Warn(certificate.warnings);
  }
  if (settings.common.json) {
    fmt::print("{}\n", ToJson(certificate));
  } else {
    fmt::print("{} at {:.4g}% confidence, {} rows\n",
               certificate.all_certified ? "Certified" : "Not certified",
               100.0 * (1.0 - certificate.delta), judged.rows.num_rows());
    fmt::print("{}", TextOf(certificate, constraints));
  }
  const bool none_violated =
      std::none_of(certificate.constraints.begin(), certificate.constraints.end(),
                   [](const auto& c) { return c.verdict == Verdict::kViolated; });
  Demand(settings.requirement, none_violated, certificate.all_certified);
}

}  // namespace

void AddCertifyCommand(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  CLI::App& command = AddCommand(app, "certify", "Certify limits on rows that no model has seen",
                                 kExample, settings->common);
  AddModelFlag(command, settings->model);
  command
      .add_option("--predicted", settings->predicted,
                  "Column with the decisions of any model, in place of --model")
      ->type_name("COLUMN");
  AddDataFlags(command, settings->data, Labels::kNeeded);
  command
      .add_option("--constraint", settings->constraints,
                  "Limits; with --model in place of those of the run; may be repeated")
      ->type_name("TEXT");
  command.add_option("--delta", settings->delta, "Risk of a false certificate")
      ->capture_default_str();
  command.add_option("--max-weight", settings->max_weight,
                     "The largest weight that a row can have, where weights differ");
  command.add_flag("--separate-claims", settings->separate_claims,
                   "Every limit a claim of its own, which share delta; else all are claimed at "
                   "once");
  command.add_option("--log", settings->log, "Remembers rows that were used, to warn of reuse")
      ->type_name("FILE");
  command.add_option("--seed", settings->seed, "Of the order of rows in bounds by betting")
      ->capture_default_str();
  AddRequireFlag(command, settings->requirement);
  AddLibraryFlag(command, settings->library);
  command.callback([settings] { Run(*settings); });
}

}  // namespace bregboost::cli
