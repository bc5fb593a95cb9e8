#include "run_output.h"

#include <fmt/format.h>

#include <filesystem>

#include "bregboost/report/html_report.h"
#include "progress.h"

namespace bregboost::cli {

RunDocument DocumentOf(const DataFlags& data, const FitFlags& fit, const LoadedRows& training,
                       const Trainer& trainer) {
  RunDocument document;
  const std::string file = std::filesystem::path(data.data).filename().string();
  const ColumnEncoding& encoding = training.encoding();
  document.title = fmt::format("{}: {}", file, encoding.label);
  RunData about{.file = file, .label = encoding.label, .rows = training.num_rows()};
  for (const FeatureEncoding& feature : encoding.features) about.features.push_back(feature.name);
  for (const CategoricalColumn& group : training.rows().groups) about.groups.push_back(group.name);
  if (!data.weight.empty()) about.weight = data.weight;
  document.data = about;
  document.encoding = ToJson(encoding);
  document.settings = {.learner = std::string(Name(LearnerOf(fit))),
                       .parameters = {},
                       .options = OptionsJson(fit),
                       .seed = fit.seed};
  if (LearnerOf(fit) != LearnerKind::kLinear) {
    document.settings.parameters = BoostedOptionsOf(fit).parameters;
  }
  document.versions = trainer.Versions();
  return document;
}

std::optional<UnlimitedDecision> WithoutLimits(const FitFlags& flags, const Trainer& trainer,
                                               const AutoFit& fit, bool quiet) {
  const FitReport& report = fit.report();
  if (report.unlimited || report.constraints.empty() || report.classes.empty() ||
      Progress::interrupted()) {
    return report.unlimited;
  }
  FitOptions options = FitOptionsOf(flags);
  options.solver.path = TrainingPath::kCalibration;
  options.checkpoint = {};  // which is the other training's
  Progress progress("without limits", StepsOf(flags), quiet);
  return trainer.Fit(report.constraints, options, progress.hooks()).report().unlimited;
}

std::string WriteRun(const RunDocument& document, const Trainer& trainer, const std::string& model,
                     OutputFolder& folder) {
  RunDocument complete = document;
  complete.model = DescribeModel(trainer.ModelName(), model);
  std::string json = ToJson(complete);
  folder.Write(trainer.ModelName(), model);
  folder.Write("bregboost.json", json);
  folder.Write("report.html", HtmlReport(json));
  return json;
}

}  // namespace bregboost::cli
