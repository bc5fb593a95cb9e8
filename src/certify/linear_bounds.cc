#include "bregboost/certify/linear_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "bregboost/certify/binomial_bounds.h"
#include "certify/detail/check_delta.h"
#include "certify/detail/chernoff.h"
#include "certify/detail/split_delta.h"
#include "certify/detail/two_binomials.h"

namespace bregboost {
namespace {

constexpr std::int64_t kMostRowsOfTwo = 1'000'000;
// How much of delta is spent on confining the rates.
constexpr double kTwoBinomialsShare = 1e-3;
constexpr double kChernoffShare = 0.05;

double UpperQuantile(double delta) {
  return boost::math::quantile(boost::math::complement(boost::math::normal(), delta));
}

void RequireTerms(std::span<const BinomialTerm> terms) {
  if (terms.empty()) throw std::invalid_argument("terms: none; allowed: at least 1");
  for (const BinomialTerm& term : terms) {
    if (!std::isfinite(term.coefficient) || term.coefficient == 0.0) {
      throw std::invalid_argument(
          fmt::format("coefficient: {}; allowed: finite, not 0", term.coefficient));
    }
    if (term.rows < 1) {
      throw std::invalid_argument(fmt::format("rows: {}; allowed: at least 1", term.rows));
    }
    if (term.events < 0 || term.events > term.rows) {
      throw std::invalid_argument(
          fmt::format("events: {}; allowed: 0 to {}", term.events, term.rows));
    }
  }
}

double Spread(const BinomialTerm& term) {  // |c| / sqrt(n)
  return std::abs(term.coefficient) / std::sqrt(static_cast<double>(term.rows));
}

std::vector<double> SharesOfDelta(std::span<const BinomialTerm> terms, double delta) {
  std::vector<double> spreads;
  for (const BinomialTerm& term : terms) spreads.push_back(Spread(term));
  return detail::SplitDelta(spreads, delta);
}

double TermUpperBound(const BinomialTerm& term, double delta) {
  return term.coefficient * (term.coefficient > 0.0
                                 ? BinomialUpperBound(term.events, term.rows, delta)
                                 : BinomialLowerBound(term.events, term.rows, delta));
}

double UnionUpperBound(std::span<const BinomialTerm> terms, double delta) {
  const std::vector<double> shares = SharesOfDelta(terms, delta);
  double sum = 0.0;
  for (std::size_t a = 0; a < terms.size(); ++a) sum += TermUpperBound(terms[a], shares[a]);
  return sum;
}

// The rates that one term leaves possible, with gamma shared by both ends.
detail::RateInterval Confined(const BinomialTerm& term, double gamma) {
  return {.low = BinomialLowerBound(term.events, term.rows, 0.5 * gamma),
          .high = BinomialUpperBound(term.events, term.rows, 0.5 * gamma)};
}

// The smallest level in [low, high] that is refuted, where all levels above it are and `high`
// counts as refuted. A tolerance in units of high - low keeps the error on the safe side.
template <class IsRefuted>
double SmallestRefuted(double low, double high, double tolerance, IsRefuted is_refuted) {
  const double width = high - low;
  while (high - low > tolerance * width) {
    const double middle = 0.5 * (low + high);
    (is_refuted(middle) ? high : low) = middle;
  }
  return high;
}

// Two terms with all that is fixed once they are observed.
class TwoBinomials {
 public:
  TwoBinomials(const BinomialTerm& first, const BinomialTerm& second, double delta)
      : oriented_(detail::Orient(first, second)),
        gamma_(kTwoBinomialsShare * delta),
        level_(delta - gamma_),
        box_({Confined(oriented_.terms[0], 0.5 * gamma_),
              Confined(oriented_.terms[1], 0.5 * gamma_)}),
        // Beyond 0.4 the limit that orders the outcomes would be their mean, or below it.
        low_outcomes_(oriented_.terms, UpperQuantile(std::min(delta, 0.4))) {}

  const detail::RateBox& box() const { return box_; }  // of the oriented rates
  bool IsRefuted(const detail::RateLine& line) const {
    return low_outcomes_.IsUnlikelyOn(line, box_, level_);
  }

  bool IsBelow(double sum) const {
    const double oriented_sum = sum - oriented_.constant;
    if (oriented_sum < Sum(box_[0].low, box_[1].low)) return false;
    return IsRefuted({.coefficients = Coefficients(), .level = oriented_sum});
  }

  double UpperBound() const {
    constexpr double kTolerance = 2e-3;
    const double bound = SmallestRefuted(
        Sum(box_[0].low, box_[1].low), Sum(box_[0].high, box_[1].high), kTolerance,
        [&](double sum) { return IsRefuted({.coefficients = Coefficients(), .level = sum}); });
    return oriented_.constant + bound;
  }

 private:
  std::array<double, 2> Coefficients() const {
    return {oriented_.terms[0].coefficient, oriented_.terms[1].coefficient};
  }
  double Sum(double first_rate, double second_rate) const {
    return Coefficients()[0] * first_rate + Coefficients()[1] * second_rate;
  }

  detail::OrientedTerms oriented_;
  double gamma_, level_;
  detail::RateBox box_;
  detail::LowOutcomes low_outcomes_;
};

struct OrientedSum {
  std::vector<detail::ConfinedTerm> terms;
  double total = 0.0;     // sum of c_a k_a / n_a, oriented
  double constant = 0.0;  // what turning round took from the sum
};

// gamma = 0: rates are not confined.
OrientedSum OrientAll(std::span<const BinomialTerm> terms, double gamma) {
  OrientedSum sum;
  for (BinomialTerm term : terms) {
    if (term.coefficient < 0.0) {
      sum.constant += term.coefficient;
      term = {-term.coefficient, term.rows - term.events, term.rows};
    }
    const auto rows = static_cast<double>(term.rows);
    sum.total += term.coefficient * static_cast<double>(term.events) / rows;
    detail::RateInterval interval;
    if (gamma > 0.0) interval = Confined(term, gamma / static_cast<double>(terms.size()));
    sum.terms.push_back({.coefficient = term.coefficient,
                         .rows = rows,
                         .low = interval.low,
                         .high = interval.high});
  }
  return sum;
}

double ChernoffUpperBound(std::span<const BinomialTerm> terms, double delta) {
  const double gamma = kChernoffShare * delta;
  const OrientedSum sum = OrientAll(terms, gamma);
  double highest = 0.0;
  for (const detail::ConfinedTerm& term : sum.terms) highest += term.coefficient * term.high;
  const double log_level = std::log(delta - gamma);
  constexpr double kTolerance = 1e-6;
  return sum.constant + SmallestRefuted(sum.total, highest, kTolerance, [&](double level) {
           return detail::LogChernoffBound(sum.terms, sum.total, level) <= log_level;
         });
}

void RequireCountOfTerms(std::size_t terms, bool fits, const char* allowed) {
  if (fits) return;
  throw std::invalid_argument(
      fmt::format("terms: {}; allowed: {} for this method", terms, allowed));
}

}  // namespace

LinearMethod ChooseLinearMethod(std::span<const BinomialTerm> terms, double delta) {
  RequireTerms(terms);
  detail::RequireDelta(delta);
  if (terms.size() == 1) return LinearMethod::kBinomial;
  if (terms.size() == 2 && std::max(terms[0].rows, terms[1].rows) <= kMostRowsOfTwo) {
    return LinearMethod::kTwoBinomials;
  }
  const std::vector<double> shares = SharesOfDelta(terms, delta);
  double of_union = 0.0, variance = 0.0;
  for (std::size_t a = 0; a < terms.size(); ++a) {
    of_union += Spread(terms[a]) * UpperQuantile(shares[a]);
    variance += Spread(terms[a]) * Spread(terms[a]);
  }
  const double of_chernoff = std::sqrt(-2.0 * std::log((1.0 - kChernoffShare) * delta) * variance);
  return of_chernoff < of_union ? LinearMethod::kChernoff : LinearMethod::kUnion;
}

double LinearUpperBound(std::span<const BinomialTerm> terms, double delta, LinearMethod method) {
  RequireTerms(terms);
  detail::RequireDelta(delta);
  switch (method) {
    case LinearMethod::kBinomial:
      RequireCountOfTerms(terms.size(), terms.size() == 1, "1");
      return TermUpperBound(terms[0], delta);
    case LinearMethod::kTwoBinomials:
      RequireCountOfTerms(terms.size(), terms.size() == 2, "2");
      return TwoBinomials(terms[0], terms[1], delta).UpperBound();
    case LinearMethod::kChernoff:
      return ChernoffUpperBound(terms, delta);
    case LinearMethod::kUnion:
      break;
  }
  return UnionUpperBound(terms, delta);
}

double LinearUpperBound(std::span<const BinomialTerm> terms, double delta) {
  return LinearUpperBound(terms, delta, ChooseLinearMethod(terms, delta));
}

bool LinearSumIsBelow(std::span<const BinomialTerm> terms, double bound, double delta) {
  if (ChooseLinearMethod(terms, delta) == LinearMethod::kTwoBinomials) {
    return TwoBinomials(terms[0], terms[1], delta).IsBelow(bound);
  }
  return LinearUpperBound(terms, delta) <= bound;
}

double ChernoffPValue(std::span<const BinomialTerm> terms, double bound) {
  RequireTerms(terms);
  if (std::isnan(bound)) throw std::invalid_argument("bound: nan; allowed: a number");
  const OrientedSum sum = OrientAll(terms, /*gamma=*/0.0);
  return std::exp(detail::LogChernoffBound(sum.terms, sum.total, bound - sum.constant));
}

double RatioLowerBound(BinomialCount numerator, BinomialCount denominator, double target,
                       double delta) {
  if (!(target > 0.0) || !std::isfinite(target)) {
    throw std::invalid_argument(
        fmt::format("target: {}; allowed: a finite number above 0", target));
  }
  detail::RequireDelta(delta);
  const std::array<BinomialTerm, 2> terms = {
      BinomialTerm{.coefficient = target, .events = denominator.events, .rows = denominator.rows},
      BinomialTerm{.coefficient = -1.0, .events = numerator.events, .rows = numerator.rows}};
  RequireTerms(terms);
  const TwoBinomials both(terms[0], terms[1], delta);
  const detail::RateBox& box = both.box();
  // The ratio as s / (1 - s), 0 <= s <= 1, and turned round: smaller ratios are refuted.
  // p_numerator / p_denominator = s / (1 - s) is the line s p[0] + (1 - s) p[1] = 1 - s, where p[1]
  // = 1 - p_numerator.
  const auto turned_share = [](double numerator_rate, double denominator_rate) {
    return denominator_rate / std::max(numerator_rate + denominator_rate, 1e-300);
  };
  const auto is_refuted = [&](double turned) {
    return both.IsRefuted({.coefficients = {1.0 - turned, turned}, .level = turned});
  };
  constexpr double kTolerance = 2e-3;
  const double turned =
      SmallestRefuted(turned_share(1.0 - box[1].low, box[0].low),
                      turned_share(1.0 - box[1].high, box[0].high), kTolerance, is_refuted);
  return (1.0 - turned) / turned;
}

}  // namespace bregboost
