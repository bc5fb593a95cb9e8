#include <fmt/format.h>

#include <memory>

#include "bregboost/report/html_report.h"
#include "command.h"
#include "output.h"
#include "run_folder.h"

namespace bregboost::cli {
namespace {

constexpr const char* kExample =
    "  bregboost report --run run/ --out report.html\n"
    "\n"
    "One file that needs no network, made from run/bregboost.json.";

struct Settings {
  CommonFlags common;
  std::string run, out;
  bool force = false;
};

void Run(const Settings& settings) {
  CheckOutputFile(settings.out, settings.force);
  const std::string path = FileIn(settings.run, "bregboost.json");
  const std::string json = ReadWholeFile(path);
  std::string html;
  try {
    html = HtmlReport(json);
  } catch (const std::invalid_argument& error) {
    throw Failure(ExitCode::kData, fmt::format("'{}': {}", path, error.what()));
  }
  WriteOutputFile(settings.out, html);
}

}  // namespace

void AddReportCommand(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  CLI::App& command =
      AddCommand(app, "report", "Write the HTML report of a run", kExample, settings->common);
  command.add_option("--run", settings->run, "Folder that `train` or `frontier` wrote")
      ->type_name("FOLDER")
      ->required();
  command.add_option("--out", settings->out, "HTML file; - is stdout")
      ->type_name("FILE")
      ->required();
  command.add_flag("--force", settings->force, "Replace the file if it is there");
  command.callback([settings] { Run(*settings); });
}

}  // namespace bregboost::cli
