#include "learners/detail/parameter_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <stdexcept>
#include <string_view>

namespace bregboost::detail {
namespace {

template <class Number>
std::optional<Number> Parse(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

[[noreturn]] void Fail(const ParameterText& parameter, const char* allowed) {
  throw std::invalid_argument(
      fmt::format("{}: '{}'; allowed: {}", parameter.name, parameter.value, allowed));
}

}  // namespace

std::optional<ParameterText> FindParameter(const GbmParameters& parameters,
                                           std::initializer_list<const char*> names) {
  std::optional<ParameterText> found;
  for (const char* name : names) {
    const auto entry = parameters.find(name);
    if (entry == parameters.end()) continue;
    if (found && found->value != entry->second) {
      throw std::invalid_argument(fmt::format("{}: {}; but its other name {} says {}", name,
                                              entry->second, found->name, found->value));
    }
    if (!found) found = ParameterText{entry->first, entry->second};
  }
  return found;
}

std::int64_t ToInteger(const ParameterText& parameter) {
  const auto number = Parse<std::int64_t>(parameter.value);
  if (!number) Fail(parameter, "a whole number");
  return *number;
}

double ToDouble(const ParameterText& parameter) {
  const auto number = Parse<double>(parameter.value);
  if (!number) Fail(parameter, "a number");
  return *number;
}

bool ToBool(const ParameterText& parameter) {
  std::string text = parameter.value;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (text == "true" || text == "1" || text == "+") return true;
  if (text == "false" || text == "0" || text == "-") return false;
  Fail(parameter, "true or false");
}

}  // namespace bregboost::detail
