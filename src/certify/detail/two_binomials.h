// Exact tail probabilities of two independent binomials over a set of outcomes that is fixed by the
// observed one, and their certified supremum over rates. See linear_bounds.h.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "bregboost/certify/linear_bounds.h"

namespace bregboost::detail {

struct RateInterval {
  double low = 0.0;
  double high = 1.0;
};
using RateBox = std::array<RateInterval, 2>;

// coefficients[0] p[0] + coefficients[1] p[1] = level, with positive coefficients.
struct RateLine {
  std::array<double, 2> coefficients;
  double level = 0.0;
};

// A term with a positive coefficient: c p = c + |c| (1 - p) for c < 0 counts the opposite events.
struct OrientedTerms {
  std::array<BinomialTerm, 2> terms;
  double constant = 0.0;  // what turning round took from the sum
};
OrientedTerms Orient(const BinomialTerm& first, const BinomialTerm& second);

// The outcomes whose approximate upper limit of c'p is no larger than that of the observed one. If
// it has an outcome it has every outcome with fewer events, so its probability falls in each rate.
class LowOutcomes {
 public:
  // `terms` have positive coefficients; `normal_quantile` > 0 is that of the approximate limit.
  LowOutcomes(const std::array<BinomialTerm, 2>& terms, double normal_quantile);

  // At least the probability of the set, by a rounding error.
  double Probability(double first_rate, double second_rate) const;

  // Whether the probability is at most `level` at every point of the line inside the box. "No" also
  // when that is too close to tell.
  bool IsUnlikelyOn(const RateLine& line, const RateBox& box, double level) const;

 private:
  std::int64_t first_rows_, second_rows_;
  std::vector<std::int64_t>
      last_first_;  // by events of the second: most events of the first, or -1
};

}  // namespace bregboost::detail
