// Flags out of a file: TOML, or JSON if the name ends in .json.
#pragma once

#include <CLI/CLI.hpp>
#include <istream>
#include <string>
#include <vector>

namespace bregboost::cli {

// The arguments, argv[0] left out, with those of the file after `--config` put in behind the
// command's name: keys are the long names of the command's flags, lists are flags given several
// times, and a table of names and values is a flag given as name=value. A flag on the command line
// takes the place of the file's. Throws Failure for a file that cannot be read and for keys that
// are no flags of the command.
std::vector<std::string> WithConfig(const CLI::App& app, std::vector<std::string> arguments);

// The same of one file whose text is at hand: flags of `command`, save those of `given`.
std::vector<std::string> ConfigArguments(const CLI::App& command, const std::string& file,
                                         std::istream& text, const std::vector<std::string>& given);

}  // namespace bregboost::cli
