#include "config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "failure.h"

namespace bregboost::cli {
namespace {

using nlohmann::json;

struct Entry {
  std::string key;
  std::vector<std::string> values;
};

[[noreturn]] void Refuse(const std::string& file, const std::string& what) {
  throw Failure(ExitCode::kUsage, fmt::format("config: '{}': {}", file, what));
}

std::string Text(const std::string& file, const std::string& key, const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean() || value.is_number()) return value.dump();
  Refuse(file, fmt::format("{}: {}; allowed: a text, a number, true, false, a list or a table of "
                           "them",
                           key, value.dump()));
}

std::vector<Entry> FromJson(const std::string& file, std::istream& text) {
  std::vector<Entry> entries;
  json root;
  // What is nested too deep for a flag is shown, which takes as deep a recursion.
  constexpr int kMaxDepth = 20;
  const auto check_depth = [&](int depth, json::parse_event_t, const json&) {
    if (depth > kMaxDepth) Refuse(file, fmt::format("nested deeper than {}", kMaxDepth));
    return true;
  };
  try {
    root = json::parse(text, check_depth);
  } catch (const json::parse_error& error) {
    Refuse(file, fmt::format("no JSON: byte {}", error.byte));
  } catch (const json::out_of_range&) {
    Refuse(file, "a number that does not fit a double; allowed: up to about 1e308");
  }
  if (!root.is_object()) {
    Refuse(file, fmt::format("{}; allowed: an object whose keys are flags", root.type_name()));
  }
  for (const auto& [key, value] : root.items()) {
    Entry entry{.key = key, .values = {}};
    if (value.is_array()) {
      for (const json& item : value) entry.values.push_back(Text(file, key, item));
    } else if (value.is_object()) {
      for (const auto& [name, item] : value.items()) {
        entry.values.push_back(fmt::format("{}={}", name, Text(file, key, item)));
      }
    } else {
      entry.values.push_back(Text(file, key, value));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<Entry> FromToml(const std::string& file, std::istream& text) {
  std::vector<Entry> entries;
  try {
    for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_config(text)) {
      if (item.name == "++" || item.name == "--") continue;  // a table begins or ends
      if (item.parents.empty()) {
        entries.push_back({.key = item.name, .values = item.inputs});
      } else if (item.parents.size() == 1 && item.inputs.size() == 1) {
        entries.push_back(
            {.key = item.parents[0], .values = {fmt::format("{}={}", item.name, item.inputs[0])}});
      } else {
        Refuse(file, fmt::format("{}: nested; allowed: one table of names and values per flag",
                                 item.fullname()));
      }
    }
  } catch (const CLI::Error& error) {
    Refuse(file, fmt::format("no TOML: {}", error.what()));
  }
  return entries;
}

std::ifstream Opened(const std::string& file) {
  std::ifstream text(file);
  if (!text) Refuse(file, "cannot be read");
  // A folder opens, and fails at the first byte.
  if (text.peek() == std::ifstream::traits_type::eof() && text.bad()) {
    Refuse(file, "cannot be read");
  }
  return text;
}

bool IsGiven(const std::vector<std::string>& arguments, const std::string& flag) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    return argument == flag || argument.starts_with(flag + "=");
  });
}

void Append(const CLI::App& command, const std::string& file, const Entry& entry,
            const std::vector<std::string>& given, std::vector<std::string>& arguments) {
  const std::string flag = "--" + entry.key;
  const CLI::Option* option = command.get_option_no_throw(flag);
  if (option == nullptr || entry.key == "config" || entry.key == "help") {
    Refuse(file, fmt::format("{}: no flag of `bregboost {}`, see its --help", entry.key,
                             command.get_name()));
  }
  if (IsGiven(given, flag)) return;
  for (const std::string& value : entry.values) {
    if (option->get_expected_min() > 0) {
      arguments.push_back(fmt::format("{}={}", flag, value));
    } else if (value == "true") {
      arguments.push_back(flag);
    } else if (value != "false") {
      Refuse(file, fmt::format("{}: {}; allowed: true, false", entry.key, value));
    }
  }
}

}  // namespace

std::vector<std::string> ConfigArguments(const CLI::App& command, const std::string& file,
                                         std::istream& text,
                                         const std::vector<std::string>& given) {
  std::vector<std::string> arguments;
  for (const Entry& entry : file.ends_with(".json") ? FromJson(file, text) : FromToml(file, text)) {
    Append(command, file, entry, given, arguments);
  }
  return arguments;
}

std::vector<std::string> WithConfig(const CLI::App& app, std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  const CLI::App* command = nullptr;
  for (const CLI::App* known : app.get_subcommands({})) {
    if (known->get_name() == arguments[0]) command = known;
  }
  if (command == nullptr) {
    if (arguments[0].starts_with('-')) return arguments;
    std::vector<std::string> names;
    for (const CLI::App* known : app.get_subcommands({})) names.push_back(known->get_name());
    throw Failure(ExitCode::kUsage,
                  fmt::format("command: '{}'; allowed: {}", arguments[0], fmt::join(names, ", ")));
  }
  std::vector<std::string> result = {arguments[0]}, given;
  std::vector<std::string> files;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    constexpr std::string_view kFlag = "--config";
    if (arguments[i] == kFlag && i + 1 < arguments.size()) {
      files.push_back(arguments[++i]);
    } else if (arguments[i].starts_with("--config=")) {
      files.push_back(arguments[i].substr(kFlag.size() + 1));
    } else {
      given.push_back(arguments[i]);
    }
  }
  for (const std::string& file : files) {
    std::ifstream text = Opened(file);
    const std::vector<std::string> flags = ConfigArguments(*command, file, text, given);
    result.insert(result.end(), flags.begin(), flags.end());
  }
  result.insert(result.end(), given.begin(), given.end());
  return result;
}

}  // namespace bregboost::cli
