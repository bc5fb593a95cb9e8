// Files of flags, TOML and JSON: what is read becomes arguments, which the commands then parse.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <sstream>

#include "command.h"
#include "config.h"
#include "failure.h"
#include "fuzz_target.h"

namespace {

using namespace bregboost;  // NOLINT: a program

// The program's commands. The throw comes after all flags are parsed, and before the command runs.
std::unique_ptr<CLI::App> MakeApp() {
  auto app = std::make_unique<CLI::App>("", "bregboost");
  cli::AddTrainCommand(*app);
  cli::AddPredictCommand(*app);
  app->parse_complete_callback([] { throw CLI::Success(); });
  return app;
}

void Parse(CLI::App& app, const char* command, const char* file, std::string_view text) {
  std::istringstream stream{std::string(text)};
  try {
    std::vector<std::string> arguments =
        cli::ConfigArguments(*app.get_subcommand(command), file, stream, /*given=*/{});
    arguments.insert(arguments.begin(), command);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    app.parse(std::move(arguments));
  } catch (const cli::Failure& failure) {
    fuzz::Require(failure.code() == cli::ExitCode::kUsage, "bad files of flags are bad usage");
  } catch (const CLI::Error&) {
    // The program shows its message, and ends with the same code.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<CLI::App> kApp = MakeApp();
  const std::string_view text = fuzz::TextOf(data, size);
  for (const char* file : {"flags.toml", "flags.json"}) {
    Parse(*kApp, "train", file, text);
    Parse(*kApp, "predict", file, text);
  }
  return 0;
}
