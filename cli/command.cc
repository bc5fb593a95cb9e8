#include "command.h"

#include <fmt/format.h>

namespace bregboost::cli {

CLI::App& AddCommand(CLI::App& app, const std::string& name, const std::string& description,
                     const std::string& example, CommonFlags& flags) {
  CLI::App& command = *app.add_subcommand(name, description);
  command.footer("\nExample:\n" + example);
  // Flags that were given several times count from the last, but lists, which grow.
  command.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  // Its flags are there when the others are parsed, see WithConfig().
  command
      .add_option_function<std::string>(
          "--config", [](const std::string&) {},
          "Flags from a TOML or .json file; others override them")
      ->type_name("FILE");
  command.add_flag("--json", flags.json, "Print results as JSON");
  command.add_flag("--quiet", flags.quiet, "No progress, no warnings");
  return command;
}

void AddRequireFlag(CLI::App& command, Requirement& requirement) {
  command
      .add_option("--require", requirement.what,
                  "Exit with 6 unless every limit `holds` (is measured to), or is `certified`")
      ->check(CLI::IsMember({"holds", "certified"}));
}

void Demand(const Requirement& requirement, bool holds, bool certified) {
  if (requirement.what == "holds" && !holds) {
    throw Failure(ExitCode::kNotHeld, "require: holds; measured: some limit does not hold");
  }
  if (requirement.what == "certified" && !certified) {
    throw Failure(ExitCode::kNotHeld, "require: certified; found: some limit is not certified");
  }
}

CLI::Option* AddModelFlag(CLI::App& command, std::string& model) {
  return command.add_option("--model", model, "Folder that `train` wrote")->type_name("FOLDER");
}

void AddLibraryFlag(CLI::App& command, std::string& library) {
  command
      .add_option("--library", library,
                  "Shared library of the learner, in place of the one that is found")
      ->type_name("FILE");
}

void AddOutFolderFlags(CLI::App& command, std::string& out, bool& force) {
  command.add_option("--out", out, "Folder for the results")->type_name("FOLDER")->required();
  command.add_flag("--force", force, "Replace the folder if it is there");
}

void Warn(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) fmt::print(stderr, "warning: {}\n", warning);
}

}  // namespace bregboost::cli
