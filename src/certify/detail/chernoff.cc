#include "certify/detail/chernoff.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bregboost::detail {
namespace {

// The dual of max_p sum_a n_a log(1 - p_a s_a) subject to c'p >= bound, s_a = 1 - exp(-l c_a/n_a):
//   D(v) = sum_a max_p [n_a log(1 - p s_a) + v c_a p] - v bound,
// whose inner maxima are at p_a = 1 / s_a - n_a / (v c_a), moved into the interval.
class InnerDual {
 public:
  InnerDual(std::span<const ConfinedTerm> terms, double lambda, double bound)
      : terms_(terms), lambda_(lambda), bound_(bound) {
    for (const ConfinedTerm& term : terms) {
      chances_.push_back(-std::expm1(-lambda * term.coefficient / term.rows));
    }
  }

  // Any v >= 0 gives an upper bound; this one is where c'p(v) = bound, up to rounding.
  double Minimum() const {
    double low = 0.0, high = lambda_;
    while (SumOfRates(high) < bound_ && high < 1e300) high *= 2.0;
    constexpr int kHalvings = 60;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = 0.5 * (low + high);
      (SumOfRates(middle) < bound_ ? low : high) = middle;
    }
    return Value(high);
  }

 private:
  double RateOf(std::size_t a, double multiplier) const {
    const ConfinedTerm& term = terms_[a];
    if (multiplier <= 0.0) return term.low;
    const double rate = 1.0 / chances_[a] - term.rows / (multiplier * term.coefficient);
    return std::clamp(rate, term.low, term.high);
  }
  double SumOfRates(double multiplier) const {
    double sum = 0.0;
    for (std::size_t a = 0; a < terms_.size(); ++a) {
      sum += terms_[a].coefficient * RateOf(a, multiplier);
    }
    return sum;
  }
  double Value(double multiplier) const {
    double value = 0.0, sum = 0.0;
    for (std::size_t a = 0; a < terms_.size(); ++a) {
      const double rate = RateOf(a, multiplier);
      value += terms_[a].rows * std::log1p(-rate * chances_[a]);
      sum += terms_[a].coefficient * rate;
    }
    return value + multiplier * (sum - bound_);
  }

  std::span<const ConfinedTerm> terms_;
  double lambda_, bound_;
  std::vector<double> chances_;  // s_a
};

}  // namespace

double LogChernoffBound(std::span<const ConfinedTerm> terms, double total, double bound) {
  double lowest = 0.0, highest = 0.0, spread = 0.0, finest = 0.0;
  for (const ConfinedTerm& term : terms) {
    lowest += term.coefficient * term.low;
    highest += term.coefficient * term.high;
    spread += term.coefficient * term.coefficient / (4.0 * term.rows);
    finest = std::max(finest, term.rows / term.coefficient);
  }
  if (bound > highest) return -std::numeric_limits<double>::infinity();
  const double active = std::max(bound, lowest);
  if (total >= active) return 0.0;
  const auto log_bound = [&](double log_lambda) {
    const double lambda = std::exp(log_lambda);
    return lambda * total + InnerDual(terms, lambda, active).Minimum();
  };
  // Convex in l, hence with one minimum in log l as well; golden section.
  constexpr double kGolden = 0.6180339887498949;
  double low = std::log(1e-2 / std::sqrt(spread));
  double high = std::log(1e2 * std::max(finest, 1.0 / std::sqrt(spread)));
  double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
  double at_left = log_bound(left), at_right = log_bound(right);
  while (high - low > 1e-4) {
    if (at_left < at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - kGolden * (high - low);
      at_left = log_bound(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + kGolden * (high - low);
      at_right = log_bound(right);
    }
  }
  constexpr double kRounding = 1e-9;
  return std::min(0.0, std::min(at_left, at_right) + kRounding);
}

}  // namespace bregboost::detail
