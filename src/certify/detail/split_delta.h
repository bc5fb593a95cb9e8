// How several bounds that must hold together share the probability of failing.
#pragma once

#include <span>
#include <vector>

namespace bregboost::detail {

// In proportion to the spreads |c_a| / sqrt(n_a): the width z(delta_a) |c_a| / sqrt(n_a) of a bound
// has the derivative -|c_a| / (sqrt(n_a) z delta_a) in delta_a, nearly, and the sum of the widths
// is smallest where those are equal. Outcomes have no say, so the union bound holds.
inline std::vector<double> SplitDelta(std::span<const double> spreads, double delta) {
  double total = 0.0;
  for (const double spread : spreads) total += spread;
  std::vector<double> shares;
  for (const double spread : spreads) shares.push_back(delta * spread / total);
  return shares;
}

}  // namespace bregboost::detail
