#include "certify/detail/claim_bounds.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "bregboost/certify/binomial_bounds.h"
#include "bregboost/certify/linear_bounds.h"
#include "bregboost/certify/mean_bounds.h"
#include "certify/detail/split_delta.h"

namespace bregboost::detail {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostRowsOfRatio = 1'000'000;  // as in ChooseLinearMethod

double MeanOf(const RateSample& sample) {
  if (sample.rows == 0) return kUndefined;
  if (sample.is_binomial) {
    return static_cast<double>(sample.events) / static_cast<double>(sample.rows);
  }
  double total = 0.0, weight = 0.0;
  for (std::size_t i = 0; i < sample.values.size(); ++i) {
    const double w = sample.weights.empty() ? 1.0 : sample.weights[i];
    total += w * sample.values[i];
    weight += w;
  }
  return total / weight;
}

BoundedSample Bounded(const RateSample& sample) {
  return {.values = sample.values,
          .weights = sample.weights,
          .low = sample.low,
          .high = sample.high,
          .max_weight = sample.max_weight};
}

double UpperBoundOfRate(const RateSample& sample, const Confidence& confidence) {
  if (sample.is_binomial) {
    return BinomialUpperBound(sample.events, static_cast<std::int64_t>(sample.rows),
                              confidence.delta);
  }
  return MeanUpperBound(Bounded(sample), {.delta = confidence.delta, .seed = confidence.seed});
}

double LowerBoundOfRate(const RateSample& sample, const Confidence& confidence) {
  if (sample.is_binomial) {
    return BinomialLowerBound(sample.events, static_cast<std::int64_t>(sample.rows),
                              confidence.delta);
  }
  return MeanLowerBound(Bounded(sample), {.delta = confidence.delta, .seed = confidence.seed});
}

double UpperBoundOfTerm(double coefficient, const RateSample& sample, const Confidence& c) {
  return coefficient *
         (coefficient > 0.0 ? UpperBoundOfRate(sample, c) : LowerBoundOfRate(sample, c));
}

bool AnyEmpty(const RateSum& sum) {
  return std::any_of(sum.terms.begin(), sum.terms.end(),
                     [](const auto& term) { return term.second->rows == 0; });
}

bool Overlap(const RateSample& a, const RateSample& b) {
  std::vector<std::uint32_t> shared;
  std::set_intersection(a.cells.begin(), a.cells.end(), b.cells.begin(), b.cells.end(),
                        std::back_inserter(shared));
  return !shared.empty();
}

bool IsIndependentBinomials(const RateSum& sum) {
  for (std::size_t a = 0; a < sum.terms.size(); ++a) {
    if (!sum.terms[a].second->is_binomial) return false;
    for (std::size_t b = 0; b < a; ++b) {
      if (Overlap(*sum.terms[a].second, *sum.terms[b].second)) return false;
    }
  }
  return true;
}

std::vector<BinomialTerm> BinomialTerms(const RateSum& sum) {
  std::vector<BinomialTerm> terms;
  for (const auto& [coefficient, sample] : sum.terms) {
    terms.push_back({.coefficient = coefficient,
                     .events = sample->events,
                     .rows = static_cast<std::int64_t>(sample->rows)});
  }
  return terms;
}

double SpreadOf(double coefficient, const RateSample& sample) {
  return std::abs(coefficient) * (sample.high - sample.low) /
         std::sqrt(static_cast<double>(sample.rows));
}

double UnionUpperBound(const RateSum& sum, const Confidence& confidence) {
  std::vector<double> spreads;
  for (const auto& [coefficient, sample] : sum.terms) {
    spreads.push_back(SpreadOf(coefficient, *sample));
  }
  const std::vector<double> shares = SplitDelta(spreads, confidence.delta);
  double bound = 0.0;
  for (std::size_t a = 0; a < sum.terms.size(); ++a) {
    const auto& [coefficient, sample] = sum.terms[a];
    bound += UpperBoundOfTerm(coefficient, *sample, {.delta = shares[a], .seed = confidence.seed});
  }
  return bound;
}

std::string_view WordOf(LinearMethod method) {
  switch (method) {
    case LinearMethod::kBinomial:
      return "binomial";
    case LinearMethod::kTwoBinomials:
      return "two binomials";
    case LinearMethod::kChernoff:
      return "chernoff";
    case LinearMethod::kUnion:
      break;
  }
  return "union";
}

// A rate or one minus a rate, as a count of its own events.
std::optional<BinomialCount> CountOf(const RateSum& sum) {
  if (sum.terms.size() != 1 || !sum.terms.front().second->is_binomial) return std::nullopt;
  const auto& [coefficient, sample] = sum.terms.front();
  const auto rows = static_cast<std::int64_t>(sample->rows);
  if (coefficient == 1.0 && sum.constant == 0.0) {
    return BinomialCount{.events = sample->events, .rows = rows};
  }
  if (coefficient == -1.0 && sum.constant == 1.0) {
    return BinomialCount{.events = rows - sample->events, .rows = rows};
  }
  return std::nullopt;
}

bool IsExactRatio(const RateSum& numerator, const RateSum& denominator) {
  const auto top = CountOf(numerator), bottom = CountOf(denominator);
  return top && bottom &&
         static_cast<std::size_t>(std::max(top->rows, bottom->rows)) <= kMostRowsOfRatio;
}

}  // namespace

double ValueOf(const RateSum& sum) {
  double value = sum.constant;
  for (const auto& [coefficient, sample] : sum.terms) value += coefficient * MeanOf(*sample);
  return value;
}

std::string_view MethodOf(const RateSum& sum, double delta) {
  if (sum.terms.empty() || AnyEmpty(sum)) return "none";
  if (IsIndependentBinomials(sum)) return WordOf(ChooseLinearMethod(BinomialTerms(sum), delta));
  return sum.terms.size() == 1 ? "betting" : "union";
}

double UpperBound(const RateSum& sum, const Confidence& confidence) {
  if (AnyEmpty(sum)) return kUndefined;
  if (sum.terms.empty()) return sum.constant;
  const double bound = IsIndependentBinomials(sum)
                           ? LinearUpperBound(BinomialTerms(sum), confidence.delta)
                           : UnionUpperBound(sum, confidence);
  return sum.constant + bound;
}

double LowerBound(const RateSum& sum, const Confidence& confidence) {
  return -UpperBound(Scaled(-1.0, sum), confidence);
}

bool IsShownBelow(const RateSum& sum, double level, const Confidence& confidence) {
  if (AnyEmpty(sum)) return false;
  if (!sum.terms.empty() && IsIndependentBinomials(sum)) {
    return LinearSumIsBelow(BinomialTerms(sum), level - sum.constant, confidence.delta);
  }
  return UpperBound(sum, confidence) <= level;
}

double RatioLowerBound(const RateSum& numerator, const RateSum& denominator, double target,
                       const Confidence& confidence) {
  if (AnyEmpty(numerator) || AnyEmpty(denominator)) return kUndefined;
  if (IsExactRatio(numerator, denominator)) {
    return bregboost::RatioLowerBound(*CountOf(numerator), *CountOf(denominator), target,
                                      confidence.delta);
  }
  const Confidence half{.delta = 0.5 * confidence.delta, .seed = confidence.seed};
  const double most = UpperBound(denominator, half);
  return most > 0.0 ? std::max(0.0, LowerBound(numerator, half) / most) : 0.0;
}

std::string_view RatioMethodOf(const RateSum& numerator, const RateSum& denominator) {
  if (AnyEmpty(numerator) || AnyEmpty(denominator)) return "none";
  return IsExactRatio(numerator, denominator) ? "two binomials" : "union";
}

std::optional<RateCeiling> CeilingOf(const RateSum& sum, double limit) {
  if (sum.terms.size() != 1 || !sum.terms.front().second->is_binomial) return std::nullopt;
  const auto& [coefficient, sample] = sum.terms.front();
  const double rate = MeanOf(*sample), at_limit = (limit - sum.constant) / coefficient;
  if (coefficient > 0.0) return RateCeiling{.observed = rate, .ceiling = at_limit};
  return RateCeiling{.observed = 1.0 - rate, .ceiling = 1.0 - at_limit};
}

std::optional<std::int64_t> RowsAtBest(double ceiling, double delta) {
  return RowsNeeded(/*observed=*/0.0, ceiling, delta);
}

SubsetRows NeedsOf(const RateSum& sum, double limit, double upper_bound, double delta) {
  if (sum.terms.empty()) return {};
  // The rate that adds most to the width is the one to name.
  const auto scarcest =
      std::max_element(sum.terms.begin(), sum.terms.end(), [](const auto& a, const auto& b) {
        return SpreadOf(a.first, *a.second) < SpreadOf(b.first, *b.second);
      });
  SubsetRows needs{.subset = scarcest->second->subset,
                   .rows = scarcest->second->rows,
                   .rows_needed = std::nullopt};
  if (const auto ceiling = CeilingOf(sum, limit)) {
    needs.rows_needed = RowsNeeded(ceiling->observed, ceiling->ceiling, delta);
    return needs;
  }
  const double value = ValueOf(sum);
  if (!(value < limit)) return needs;  // NaN as well
  const double factor = (upper_bound - value) / (limit - value);
  const double rows = std::ceil(static_cast<double>(needs.rows) * factor * factor);
  constexpr double kMostRows = 1e12;  // as in RowsNeeded
  if (rows <= kMostRows) needs.rows_needed = static_cast<std::int64_t>(rows);
  return needs;
}

}  // namespace bregboost::detail
