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

// A file tells its kind by its name, an input by its first sign. Most are read once, as what they
// look like and for the command with most flags: the text is parsed alike for both.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<CLI::App> kApp = MakeApp();
  const std::string_view text = fuzz::TextOf(data, size);
  const bool looks_like_json = text.starts_with('{'), is_read_as_all = fuzz::IsOneIn(8, text);
  for (const char* file : {"flags.toml", "flags.json"}) {
    const bool is_json = file == std::string_view("flags.json");
    if (is_json != looks_like_json && !is_read_as_all) continue;
    Parse(*kApp, "train", file, text);
    if (is_read_as_all) Parse(*kApp, "predict", file, text);
  }
  return 0;
}
