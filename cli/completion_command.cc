#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "command.h"

namespace bregboost::cli {
namespace {

constexpr const char* kExample =
    "  source <(bregboost completion bash)\n"
    "  bregboost completion fish > ~/.config/fish/completions/bregboost.fish";

std::vector<std::string> FlagsOf(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

std::vector<const CLI::App*> CommandsOf(const CLI::App& app) { return app.get_subcommands({}); }

std::vector<std::string> NamesOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : CommandsOf(app)) names.push_back(command->get_name());
  return names;
}

std::string Bash(const CLI::App& app) {
  std::string script = fmt::format(
      "_bregboost() {{\n"
      "  local word=\"${{COMP_WORDS[COMP_CWORD]}}\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  local flags=\"\"\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n",
      fmt::join(NamesOf(app), " "));
  for (const CLI::App* command : CommandsOf(app)) {
    script += fmt::format("    {}) flags=\"{}\" ;;\n", command->get_name(),
                          fmt::join(FlagsOf(*command), " "));
  }
  return script +
         "  esac\n"
         "  case \"$word\" in\n"
         "    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$word\")) ;;\n"
         "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
         "  esac\n"
         "}\n"
         "complete -o filenames -F _bregboost bregboost\n";
}

std::string Fish(const CLI::App& app) {
  std::string script;
  for (const CLI::App* command : CommandsOf(app)) {
    script += fmt::format("complete -c bregboost -n __fish_use_subcommand -f -a {} -d '{}'\n",
                          command->get_name(), command->get_description());
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        script +=
            fmt::format("complete -c bregboost -n '__fish_seen_subcommand_from {}' -l {}{}\n",
                        command->get_name(), name, option->get_expected_min() > 0 ? " -r" : "");
      }
    }
  }
  return script;
}

void Run(const CLI::App& app, const std::string& shell) {
  if (shell == "fish") {
    fmt::print("{}", Fish(app));
  } else if (shell == "zsh") {
    // zsh runs bash's completions.
    fmt::print("autoload -U +X bashcompinit && bashcompinit\n{}", Bash(app));
  } else {
    fmt::print("{}", Bash(app));
  }
}

}  // namespace

void AddCompletionCommand(CLI::App& app) {
  const auto shell = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("completion", "Print completions for a shell");
  command.footer(std::string("\nExample:\n") + kExample);
  command.add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command.callback([&app, shell] { Run(app, *shell); });
}

}  // namespace bregboost::cli
