// What the commands are made of, and the list of them. Each adds its flags to a sub-command and
// what to do once they are parsed.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "failure.h"

namespace bregboost::cli {

struct CommonFlags {
  bool json = false;   // results on stdout as JSON
  bool quiet = false;  // no progress
};

// `example` is shown at the end of the command's --help.
CLI::App& AddCommand(CLI::App& app, const std::string& name, const std::string& description,
                     const std::string& example, CommonFlags& flags);

// --require
struct Requirement {
  std::string what;  // "", "holds", "certified"
};
void AddRequireFlag(CLI::App& command, Requirement& requirement);
// Throws Failure (kNotHeld) unless what is required is so.
void Demand(const Requirement& requirement, bool holds, bool certified);

CLI::Option* AddModelFlag(CLI::App& command, std::string& model);
void AddLibraryFlag(CLI::App& command, std::string& library);
void AddOutFolderFlags(CLI::App& command, std::string& out, bool& force);

void Warn(const std::vector<std::string>& warnings);

void AddTrainCommand(CLI::App& app);
void AddPredictCommand(CLI::App& app);
void AddEvaluateCommand(CLI::App& app);
void AddCertifyCommand(CLI::App& app);
void AddFrontierCommand(CLI::App& app);
void AddReportCommand(CLI::App& app);
void AddConstraintsCommand(CLI::App& app);
void AddCompletionCommand(CLI::App& app);

}  // namespace bregboost::cli
