#include "bregboost/certify/binomial_bounds.h"

#include <fmt/format.h>

#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <stdexcept>

#include "certify/detail/check_delta.h"

namespace bregboost {
namespace {

constexpr double kMostRows = 1e12;

void RequireCount(std::int64_t events, std::int64_t rows) {
  if (rows < 1) throw std::invalid_argument(fmt::format("rows: {}; allowed: at least 1", rows));
  if (events >= 0 && events <= rows) return;
  throw std::invalid_argument(fmt::format("events: {}; allowed: 0 to {}", events, rows));
}

// Whether a share `observed` of `rows` rows has an upper bound of at most `bound`: P(X <= k) <=
// delta for X of n rows at that rate, with the count k = observed * n continued between integers.
bool Suffices(double rows, double observed, double bound, double delta) {
  const double events = observed * rows;
  return boost::math::ibetac(events + 1.0, rows - events, bound) <= delta;
}

}  // namespace

double BinomialUpperBound(std::int64_t events, std::int64_t rows, double delta) {
  RequireCount(events, rows);
  detail::RequireDelta(delta);
  if (events == rows) return 1.0;
  return boost::math::ibetac_inv(static_cast<double>(events) + 1.0,
                                 static_cast<double>(rows - events), delta);
}

double BinomialLowerBound(std::int64_t events, std::int64_t rows, double delta) {
  RequireCount(events, rows);
  detail::RequireDelta(delta);
  if (events == 0) return 0.0;
  return boost::math::ibeta_inv(static_cast<double>(events),
                                static_cast<double>(rows - events) + 1.0, delta);
}

std::optional<std::int64_t> RowsNeeded(double observed, double bound, double delta) {
  detail::RequireDelta(delta);
  if (!(observed >= 0.0) || !(observed < bound)) return std::nullopt;
  if (bound >= 1.0) return 1;
  if (observed == 0.0) {
    const double rows = std::ceil(std::log(delta) / std::log1p(-bound));
    if (rows > kMostRows) return std::nullopt;
    return static_cast<std::int64_t>(std::fmax(rows, 1.0));
  }
  double high = 1.0;
  while (!Suffices(high, observed, bound, delta)) {
    high *= 2.0;
    if (high > kMostRows) return std::nullopt;
  }
  double low = 0.5 * high;
  while (high - low > std::fmax(0.5, 1e-9 * high)) {
    const double middle = 0.5 * (low + high);
    (Suffices(middle, observed, bound, delta) ? high : low) = middle;
  }
  return static_cast<std::int64_t>(std::ceil(high));
}

}  // namespace bregboost
