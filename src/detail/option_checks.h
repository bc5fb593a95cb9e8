// Range checks of options: every message names the field, the value and what is allowed.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace bregboost::detail {

inline void RequirePositive(const char* field, double value) {
  if (value > 0.0 && std::isfinite(value)) return;
  throw std::invalid_argument(
      fmt::format("{}: {}; allowed: a finite number above 0", field, value));
}

inline void RequireNonNegative(const char* field, double value) {
  if (value >= 0.0 && std::isfinite(value)) return;
  throw std::invalid_argument(
      fmt::format("{}: {}; allowed: a finite number, at least 0", field, value));
}

template <class Integer>
void RequireAtLeast(const char* field, Integer value, Integer least) {
  if (value >= least) return;
  throw std::invalid_argument(fmt::format("{}: {}; allowed: at least {}", field, value, least));
}

}  // namespace bregboost::detail
