#include "data/detail/level_order.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "data/detail/number_field.h"

namespace bregboost::detail {

void SortLevels(std::vector<std::string>& levels) {
  std::vector<std::pair<double, std::string>> numbers;
  for (const std::string& level : levels) {
    const std::optional<double> number = ParseNumberField(level);
    if (!number || !std::isfinite(*number)) {
      std::sort(levels.begin(), levels.end());
      return;
    }
    numbers.emplace_back(*number, level);
  }
  // Equal numbers, "1" and "1.0", are in byte order.
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = std::move(numbers[i].second);
}

}  // namespace bregboost::detail
