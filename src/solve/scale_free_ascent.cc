#include "bregboost/solve/scale_free_ascent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "detail/option_checks.h"

namespace bregboost {
namespace {

// G_j starts here: small against the square of any rate that matters, so that the first step of a
// multiplier has the length c.
constexpr double kFirstSquare = 1e-10;

void CheckSize(const char* name, std::size_t size, std::size_t expected) {
  if (size == expected) return;
  throw std::invalid_argument(
      fmt::format("{}: {} values; allowed: one per limit, {}", name, size, expected));
}

}  // namespace

ScaleFreeAscent::ScaleFreeAscent(std::span<const double> largest_charges, double rate,
                                 double ceiling)
    : largest_charges_(largest_charges.begin(), largest_charges.end()),
      rate_(rate),
      ceiling_(ceiling),
      multipliers_(largest_charges.size(), 0.0),
      squares_(largest_charges.size(), kFirstSquare) {
  detail::RequirePositive("rate", rate);
  detail::RequireNonNegative("ceiling", ceiling);
}

void ScaleFreeAscent::Step(std::span<const double> excess, bool extrapolate) {
  CheckSize("excess", excess.size(), multipliers_.size());
  for (std::size_t j = 0; j < multipliers_.size(); ++j) {
    const double g = std::isnan(excess[j]) ? 0.0 : excess[j];
    const double before = extrapolate && !before_.empty() ? before_[j] : g;
    const double z = 2.0 * g - before;
    squares_[j] += g * g;
    const double charge = largest_charges_[j];
    if (!(charge > 0.0)) continue;  // no prediction changes this rate
    const double step =
        rate_ / charge * (1.0 + multipliers_[j] * charge) * z / std::sqrt(squares_[j]);
    if (std::isnan(step)) continue;  // an excess whose square is beyond all numbers
    multipliers_[j] = std::clamp(multipliers_[j] + step, 0.0, ceiling_);
  }
  before_.assign(excess.begin(), excess.end());
  for (double& g : before_) {
    if (std::isnan(g)) g = 0.0;
  }
}

void ScaleFreeAscent::Set(std::span<const double> multipliers) {
  CheckSize("multipliers", multipliers.size(), multipliers_.size());
  for (std::size_t j = 0; j < multipliers_.size(); ++j) {
    multipliers_[j] = std::clamp(multipliers[j], 0.0, ceiling_);
  }
}

}  // namespace bregboost
