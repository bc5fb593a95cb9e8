// The one check that all confidence bounds share.
#pragma once

#include <fmt/format.h>

#include <stdexcept>

namespace bregboost::detail {

inline void RequireDelta(double delta) {
  if (delta > 0.0 && delta < 1.0) return;  // refuses NaN as well
  throw std::invalid_argument(fmt::format("delta: {}; allowed: above 0 and below 1", delta));
}

}  // namespace bregboost::detail
