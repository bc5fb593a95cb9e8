// The command line: flags -> options -> library call, nothing else.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bregboost/learners/checkpoint.h"
#include "bregboost/learners/library_error.h"
#include "command.h"
#include "config.h"
#include "failure.h"

namespace {

using namespace bregboost;  // NOLINT: a program
using cli::ExitCode;
namespace fs = std::filesystem;

constexpr const char* kExitCodes =
    "\nExit codes: 0 done; 1 failed; 2 flags, config files or constraint texts; 3 input data;\n"
    "4 LightGBM or XGBoost is missing; 5 output cannot be written; 6 --require is not met;\n"
    "130 interrupted. A failure is one line on stderr, and leaves no partial output.";

// A program that pip installed is of the environment that it is in, active or not: there it looks
// for LightGBM and XGBoost. It is in its bin/ or, with libraries of its own, among its packages.
void UseOwnEnvironment() {
  if (std::getenv("VIRTUAL_ENV") != nullptr) return;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  for (fs::path folder = program.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (!fs::exists(folder / "pyvenv.cfg", error)) continue;
    ::setenv("VIRTUAL_ENV", folder.c_str(), /*overwrite=*/0);
    return;
  }
}

int Fail(ExitCode code, std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  fmt::print(stderr, "bregboost: {}\n", message);
  return static_cast<int>(code);
}

int Parse(CLI::App& app, std::vector<std::string> arguments) {
  try {
    arguments = cli::WithConfig(app, std::move(arguments));
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    app.parse(std::move(arguments));
    return static_cast<int>(ExitCode::kOk);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return Fail(ExitCode::kUsage, error.what());
  } catch (const cli::Failure& failure) {
    return Fail(failure.code(), failure.what());
  } catch (const CheckpointWriteError& error) {
    return Fail(ExitCode::kOutput, error.what());
  } catch (const CheckpointError& error) {
    return Fail(ExitCode::kData, error.what());
  } catch (const LibraryError& error) {
    return Fail(ExitCode::kLibrary, error.what());
  } catch (const std::bad_alloc&) {
    return Fail(ExitCode::kFailed, "out of memory");
  } catch (const std::exception& error) {
    return Fail(ExitCode::kFailed, error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains LightGBM, XGBoost and linear models under limits on error rates.",
               "bregboost");
  app.set_version_flag("--version", BREGBOOST_VERSION);
  app.require_subcommand(1);
  app.footer(kExitCodes);
  UseOwnEnvironment();
  cli::AddTrainCommand(app);
  cli::AddPredictCommand(app);
  cli::AddEvaluateCommand(app);
  cli::AddCertifyCommand(app);
  cli::AddFrontierCommand(app);
  cli::AddReportCommand(app);
  cli::AddConstraintsCommand(app);
  cli::AddCompletionCommand(app);
  return Parse(app, {argv + 1, argv + argc});
}
