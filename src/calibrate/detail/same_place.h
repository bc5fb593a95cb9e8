// Scores that differ by rounding alone.
#pragma once

#include <cmath>

namespace bregboost::detail {

// Rows whose leaves have the same sum may differ by how it was summed up, and not as they will in
// the model that is deployed: no threshold may tell them apart. XGBoost sums in floats.
inline bool SamePlace(double a, double b) {
  constexpr double kRounding = 1e-6;
  return std::abs(a - b) <= kRounding * (1.0 + std::abs(a));
}

}  // namespace bregboost::detail
