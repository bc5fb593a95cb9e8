// Confidence bounds on sums of sampled rates, by the method that fits the samples.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "certify/detail/rate_samples.h"

namespace bregboost::detail {

struct Confidence {
  double delta = 0.1;
  std::uint64_t seed = 0;
};

// NaN if a rate has no rows.
double ValueOf(const RateSum& sum);

// The word of the report: "binomial", "two binomials", "chernoff", "union", "betting".
std::string_view MethodOf(const RateSum& sum, double delta);

// Upper and lower bounds, NaN if a rate has no rows. A sum without rates is its constant.
double UpperBound(const RateSum& sum, const Confidence& confidence);
double LowerBound(const RateSum& sum, const Confidence& confidence);
// Whether the upper bound is shown to be at most `level`, without computing it where that is dear.
bool IsShownBelow(const RateSum& sum, double level, const Confidence& confidence);

// A lower bound on numerator / denominator, two sums over rows that do not overlap, sharpest at
// `target`; NaN if a rate has no rows.
double RatioLowerBound(const RateSum& numerator, const RateSum& denominator, double target,
                       const Confidence& confidence);
std::string_view RatioMethodOf(const RateSum& numerator, const RateSum& denominator);

// The one binomial rate whose ceiling says the same as sum <= limit: a coefficient below 0 turns
// its events round.
struct RateCeiling {
  double observed = 0.0;
  double ceiling = 0.0;
};
std::optional<RateCeiling> CeilingOf(const RateSum& sum, double limit);

// Rows that show such a ceiling if none of them has the event.
std::optional<std::int64_t> RowsAtBest(double ceiling, double delta);

// What would show that sum <= limit; see ConstraintVerdict::needs. `upper_bound` is the sum's.
SubsetRows NeedsOf(const RateSum& sum, double limit, double upper_bound, double delta);

}  // namespace bregboost::detail
