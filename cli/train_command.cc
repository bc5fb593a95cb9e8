#include <fmt/format.h>

#include <memory>
#include <optional>

#include "bregboost/report/fit_json.h"
#include "bregboost/report/run_document.h"
#include "command.h"
#include "data_flags.h"
#include "fit_flags.h"
#include "output.h"
#include "progress.h"
#include "run_output.h"
#include "text_tables.h"
#include "trainer.h"

namespace bregboost::cli {
namespace {

constexpr const char* kExample =
    "  bregboost train --data adult.csv --label income --positive '>50K' --learner lightgbm \\\n"
    "    --constraint 'gap(error, by=sex) <= 5%' --param num_leaves=31 --certify 0.2 --out run/\n"
    "\n"
    "run/ holds the model of the stock library (model.txt, model.ubj or model.json),\n"
    "bregboost.json with everything about the run, and report.html.";

struct Settings {
  CommonFlags common;
  DataFlags data;
  FitFlags fit;
  Requirement requirement;
  std::string out, eval_data, certify_data;
  bool force = false, no_compare = false;
};

// Rows of another file, read as the training rows were.
std::unique_ptr<LoadedRows> LoadOther(const Settings& settings, const std::string& file,
                                      const LoadedRows& training,
                                      const std::vector<Constraint>& constraints) {
  if (file.empty()) return nullptr;
  DataFlags flags = settings.data;
  flags.data = file;
  return std::make_unique<LoadedRows>(
      LoadForModel(flags, training.encoding(), constraints, flags.positive, /*with_labels=*/true));
}

// Says what was found once it is written.
void Publish(const Settings& settings, const Trainer& trainer, const std::string& model,
             const RunDocument& document, const std::string& text, OutputFolder& folder) {
  const std::string json = WriteRun(document, trainer, model, folder);
  folder.Publish();
  if (settings.common.json) {
    fmt::print("{}\n", json);
  } else {
    fmt::print("{}Written to {}: {}, bregboost.json, report.html\n", text, settings.out,
               trainer.ModelName());
  }
}

void TrainAuto(const Settings& settings, const Trainer& trainer, const LoadedRows& training,
               const std::vector<Constraint>& constraints, OutputFolder& folder) {
  std::optional<AutoFit> fit;
  {
    Progress progress("training", StepsOf(settings.fit), settings.common.quiet);
    fit = trainer.Fit(constraints, FitOptionsOf(settings.fit), progress.hooks());
  }
  const FitReport& report = fit->report();
  std::optional<Reachability> reach;
  const bool searches = report.unseen.calibration.has_value() && !Progress::interrupted();
  if (searches && report.total_violation > 0.0) reach = fit->Diagnose();
  const std::optional<UnlimitedDecision> unlimited =
      settings.no_compare ? report.unlimited
                          : WithoutLimits(settings.fit, trainer, *fit, settings.common.quiet);

  RunDocument document = DocumentOf(settings.data, settings.fit, training, trainer);
  document.fit = ToJson(report, reach ? &*reach : nullptr);
  if (unlimited) document.unconstrained = ToJson(*unlimited);
  const std::string text =
      TextOf(report, unlimited ? &*unlimited : nullptr, reach ? &*reach : nullptr);
  Publish(settings, trainer, trainer.ModelFile(*fit), document, text, folder);
  if (!settings.common.quiet) Warn(report.warnings);
  Demand(settings.requirement, report.total_violation == 0.0, report.certificate.all_certified);
}

void TrainAsInPaper(const Settings& settings, const Trainer& trainer, const LoadedRows& training,
                    const std::vector<Constraint>& constraints, OutputFolder& folder) {
  std::optional<PaperFit> fit;
  {
    Progress progress(settings.fit.solver, StepsOf(settings.fit), settings.common.quiet);
    fit = trainer.FitPaper(constraints, progress.hooks());
  }
  RunDocument document = DocumentOf(settings.data, settings.fit, training, trainer);
  document.fit = ToJson(fit->report(), constraints);
  Publish(settings, trainer, trainer.ModelFile(*fit), document, TextOf(fit->report(), constraints),
          folder);
  Demand(settings.requirement, fit->report().total_violation == 0.0, /*certified=*/false);
}

void Run(const Settings& settings) {
  const std::vector<Constraint> constraints = ConstraintsOf(settings.fit.constraints);
  const bool is_auto = settings.fit.solver == "auto";
  if (!is_auto && settings.fit.solver != "abpp" && settings.fit.solver != "cbpr") {
    throw Failure(ExitCode::kUsage,
                  fmt::format("solver: '{}'; allowed: auto, abpp, cbpr", settings.fit.solver));
  }
  if (!is_auto && (!settings.certify_data.empty() || settings.fit.certify > 0.0)) {
    throw Failure(ExitCode::kUsage,
                  fmt::format("certify: given; allowed with the solver {}, which keeps nothing "
                              "apart: nothing",
                              settings.fit.solver));
  }
  FitOptionsOf(settings.fit);  // complains before anything is read
  const bool linear = LearnerOf(settings.fit) == LearnerKind::kLinear;
  LimitThreads(settings.fit);
  OutputFolder folder(settings.out, settings.force);
  const LoadedRows training = LoadForTraining(settings.data, constraints, linear);
  const auto evaluation = LoadOther(settings, settings.eval_data, training, constraints);
  const auto certification = LoadOther(settings, settings.certify_data, training, constraints);
  As(ExitCode::kUsage, [&] {
    const Trainer trainer(settings.fit, training, evaluation.get(), certification.get());
    if (is_auto) {
      TrainAuto(settings, trainer, training, constraints, folder);
    } else {
      TrainAsInPaper(settings, trainer, training, constraints, folder);
    }
  });
  if (Progress::interrupted()) {
    throw Failure(ExitCode::kInterrupted, "interrupted: the model is of the steps made by then");
  }
}

}  // namespace

void AddTrainCommand(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  CLI::App& command = AddCommand(app, "train", "Train a model under limits on error rates",
                                 kExample, settings->common);
  AddDataFlags(command, settings->data, Labels::kNeeded);
  AddFitFlags(command, settings->fit, FitCommand::kTrain);
  command
      .add_option("--eval-data", settings->eval_data,
                  "Rows to measure limits on in place of folds; never trained on")
      ->type_name("FILE");
  command
      .add_option("--certify-data", settings->certify_data,
                  "Rows for the certificate alone, in place of a share of the data")
      ->type_name("FILE");
  AddRequireFlag(command, settings->requirement);
  command.add_flag("--no-compare", settings->no_compare,
                   "Do not train without limits too, where that would take a training");
  AddOutFolderFlags(command, settings->out, settings->force);
  command.callback([settings] { Run(*settings); });
}

}  // namespace bregboost::cli
