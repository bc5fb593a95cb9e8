#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "data_flags.h"
#include "delimited_output.h"
#include "output.h"
#include "run_folder.h"

namespace bregboost::cli {
namespace {

constexpr const char* kExample =
    "  bregboost predict --model run/ --data new.csv --out predictions.csv\n"
    "\n"
    "One line per row: the label that the model decides for, then the probability of every\n"
    "class as the stock library gives it; offsets are in them. Columns are found by name.";

struct Settings {
  CommonFlags common;
  DataFlags data;
  std::string model, out, library;
  bool force = false;
};

std::string PredictionsCsv(const ColumnEncoding& encoding, std::span<const double> scores,
                           std::size_t rows) {
  std::string text;
  const auto out = std::back_inserter(text);
  if (encoding.classes.empty()) {
    text += "value\n";
    for (const double value : scores) fmt::format_to(out, "{}\n", value);
    return text;
  }
  std::vector<std::string> names = {"label"};
  for (const std::string& name : encoding.classes) names.push_back("p(" + name + ")");
  text += DelimitedLine(names);
  std::vector<std::string> labels;
  for (const std::string& name : encoding.classes) labels.push_back(DelimitedField(name));
  const std::size_t classes = labels.size();
  const std::vector<double> probabilities = ClassProbabilities(scores, rows);
  const std::vector<std::int32_t> decisions = Decisions(scores, rows);
  for (std::size_t i = 0; i < rows; ++i) {
    text += labels[static_cast<std::size_t>(decisions[i])];
    for (std::size_t k = 0; k < classes; ++k) {
      fmt::format_to(out, ",{}", probabilities[i * classes + k]);
    }
    text += '\n';
  }
  return text;
}

void Run(const Settings& settings) {
  CheckOutputFile(settings.out, settings.force);
  const RunFolder run = ReadRunFolder(settings.model);
  const StoredModel model = ReadModel(settings.model, run, settings.library);
  const LoadedRows rows = LoadForModel(settings.data, run.encoding, {}, /*positive=*/"",
                                       /*with_labels=*/false);
  std::vector<double> scores;
  As(ExitCode::kData, [&] { scores = model.Scores(rows.features()); });
  WriteOutputFile(settings.out, PredictionsCsv(run.encoding, scores, rows.num_rows()));
  if (!settings.common.quiet) Warn(rows.warnings());
  if (settings.common.json && settings.out != "-") {
    const nlohmann::json result = {
        {"rows", rows.num_rows()}, {"out", settings.out}, {"warnings", rows.warnings()}};
    fmt::print("{}\n", result.dump());
  }
}

}  // namespace

void AddPredictCommand(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  CLI::App& command = AddCommand(app, "predict", "Predict the rows of a file with a trained model",
                                 kExample, settings->common);
  AddModelFlag(command, settings->model)->required();
  command.add_option("--data", settings->data.data, "CSV, TSV or LibSVM text, as for `train`")
      ->type_name("FILE")
      ->required();
  command
      .add_option("--delimiter", settings->data.delimiter, "Between fields [comma; tab for .tsv]")
      ->type_name("CHARACTER");
  command.add_option("--out", settings->out, "CSV file for the predictions; - is stdout")
      ->type_name("FILE")
      ->required();
  command.add_flag("--force", settings->force, "Replace the file if it is there");
  AddLibraryFlag(command, settings->library);
  command.callback([settings] { Run(*settings); });
}

}  // namespace bregboost::cli
