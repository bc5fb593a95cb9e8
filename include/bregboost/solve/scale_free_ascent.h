// Multipliers that move on rates and need no step size: each limit is measured by the most that it
// can charge one row, L_j, and by how far its rate has been off so far,
//
//   G_j += g_j^2,   lambda_j <- clip(lambda_j + (c / L_j) (1 + lambda_j L_j) z_j / sqrt(G_j), 0,
//   rho)
//
// so that 1 + lambda_j L_j, the weight of a row that limit j charges most, moves by about the
// factor exp(c z_j / sqrt(G_j)).
#pragma once

#include <span>
#include <vector>

namespace bregboost {

class ScaleFreeAscent {
 public:
  // `largest_charges` are the L_j > 0; `rate` is c > 0, `ceiling` rho >= 0.
  ScaleFreeAscent(std::span<const double> largest_charges, double rate, double ceiling);

  // `excess` is g at the current point. With `extrapolate`, z = 2 g - g_before, as in ABPP with
  // constant steps; else z = g. NaN, a limit that is undefined there, moves nothing.
  void Step(std::span<const double> excess, bool extrapolate);

  const std::vector<double>& multipliers() const { return multipliers_; }
  // Where to start from, e.g. a neighbouring problem's solution; clipped to [0, rho].
  void Set(std::span<const double> multipliers);

 private:
  std::vector<double> largest_charges_;
  double rate_;
  double ceiling_;
  std::vector<double> multipliers_;
  std::vector<double> squares_;  // G_j
  std::vector<double> before_;   // g of the step before; empty at first
};

}  // namespace bregboost
