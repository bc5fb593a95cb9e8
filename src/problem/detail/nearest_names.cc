#include <algorithm>
#include <numeric>
#include <utility>

#include "bregboost/problem/parser.h"

namespace bregboost {
namespace {

constexpr std::size_t kMaxSuggestions = 3;
constexpr std::size_t kMaxEdits = 3;

// About one slip per three letters; a single letter is near no other.
std::size_t AllowedEdits(std::size_t length) {
  return length < 2 ? 0 : std::clamp<std::size_t>(length / 3, 1, kMaxEdits);
}

// ASCII only: other bytes are compared as they are.
std::string LowerCase(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// Insertions, deletions, replacements and swaps of neighbours, by rows of the usual table: row i
// holds the distances from the first i bytes of `a` to every prefix of `b`.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1), above(row), two_above(row);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
    std::swap(two_above, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::vector<std::string> NearestNames(std::string_view name,
                                      const std::vector<std::string>& known) {
  const std::string wanted = LowerCase(name);
  const std::size_t allowed = AllowedEdits(name.size());
  std::vector<std::pair<std::size_t, const std::string*>> near;
  for (const std::string& candidate : known) {
    const bool is_too_long = candidate.size() > name.size() + allowed;
    const bool is_too_short = name.size() > candidate.size() + allowed;
    if (is_too_long || is_too_short) continue;  // spares the table
    const std::size_t distance = EditDistance(wanted, LowerCase(candidate));
    if (distance <= allowed) near.emplace_back(distance, &candidate);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (near.size() > kMaxSuggestions) near.resize(kMaxSuggestions);

  std::vector<std::string> names;
  for (const auto& [distance, candidate] : near) names.push_back(*candidate);
  return names;
}

}  // namespace bregboost
