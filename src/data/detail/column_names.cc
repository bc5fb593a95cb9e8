#include "data/detail/column_names.h"

#include <fmt/format.h>

#include "bregboost/problem/parser.h"
#include "data/detail/place.h"
#include "problem/detail/text.h"

namespace bregboost::detail {

std::string NoColumn(std::string_view source, std::string_view name,
                     const std::vector<std::string>& known) {
  constexpr std::size_t kMaxShown = 20;
  const std::string missing = fmt::format("'{}' has no column {}", source, Quoted(name));
  std::vector<std::string> near;
  for (const std::string& other : NearestNames(name, known)) near.push_back(Quoted(other));
  if (!near.empty()) return fmt::format("{}; did you mean {}?", missing, Joined(near));
  std::vector<std::string> shown;
  for (const std::string& other : known) {
    if (shown.size() == kMaxShown) {
      shown.emplace_back("...");
      break;
    }
    shown.push_back(Quoted(other));
  }
  return fmt::format("{}; allowed: {}", missing, Joined(shown));
}

}  // namespace bregboost::detail
