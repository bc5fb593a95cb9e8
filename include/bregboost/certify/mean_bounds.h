// Confidence bounds on the mean of independent values in a known range, with or without weights, by
// betting (Waudby-Smith & Ramdas, "Estimating means of bounded random variables by betting", 2024).
//
// Against the hypothesis that the mean is m or more, a bettor with capital 1 stakes a share l_t of
// it on the next value being below m: K_t = K_{t-1} (1 + l_t w_t (m - x_t)). If the hypothesis is
// true, the capital is a nonnegative supermartingale and ever reaches 1 / delta with a probability
// of at most delta (Ville's inequality). The upper bound is the smallest m that is refuted so.
// Stakes depend on earlier rows alone, and so that the capital grows with m; hence the m that are
// refuted are exactly those above the bound.
#pragma once

#include <cstdint>
#include <span>

namespace bregboost {

// Values to be averaged. The ranges are known beforehand, not read from the data: a maximum of the
// sample says nothing about the next row.
struct BoundedSample {
  std::span<const double> values;
  std::span<const double> weights = {};  // one per value; empty means 1
  double low = 0.0;                      // low <= value <= high; both finite, low < high
  double high = 1.0;
  double max_weight = 1.0;  // 0 <= weight <= max_weight; finite and above 0
};

struct MeanBoundOptions {
  double delta = 0.1;      // above 0 and below 1
  std::uint64_t seed = 0;  // of the order in which the rows are bet on
};

// Of the mean E[w x] / E[w]. Throws std::invalid_argument if a value is out of its range or NaN, if
// a range is not finite, or if there are no values. The trivial bound, `high` or `low`, if the rows
// say nothing.
double MeanUpperBound(const BoundedSample& sample, const MeanBoundOptions& options);
double MeanLowerBound(const BoundedSample& sample, const MeanBoundOptions& options);

}  // namespace bregboost
