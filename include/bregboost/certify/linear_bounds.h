// Upper confidence bounds on sum_a c_a p_a, where p_a are rates of disjoint sets of rows: given the
// sizes n_a of the sets, the counts k_a are independent binomials. Rates of sets that overlap are
// not; kUnion alone holds for those too.
//
// Three methods, each valid by itself:
//
// kTwoBinomials (two terms). The bound of Buehler ("Confidence intervals for the product of two
//   binomial parameters", 1957): outcomes are ordered by an approximate upper limit, and the bound
//   is the largest sum c'p for which an outcome no higher in that order than the observed one has a
//   probability of more than delta. The supremum over the rates with a given sum is certified, not
//   sampled: the probability falls in each (oriented) rate, so the corner of a stretch bounds it on
//   the whole stretch, and stretches are halved until every corner is below delta. Rates outside
//   intervals that hold with a probability of 1 - gamma, gamma = delta / 1000, are left out, and
//   gamma is paid for (Berger & Boos, "P values maximized over a confidence set for the nuisance
//   parameter", 1994).
//
// kChernoff (any number of terms). P(sum_a c_a k_a / n_a <= t) is at most
//     inf_{l >= 0} exp(l t) max_p prod_a (1 - p_a + p_a exp(-l c_a / n_a))^n_a
//   over rates p with sum c_a p_a >= b. The maximum is concave in p; its Lagrange dual bounds it
//   from above for every multiplier, and every l is allowed, so stopping early errs on the valid
//   side. Rates are again confined to intervals, with gamma = delta / 20.
//
// kUnion. Each rate by its own exact bound at delta_a, sum_a delta_a = delta, in proportion to
//   |c_a| / sqrt(n_a), which makes the sum of the widths about smallest.
//
// The method is chosen by the numbers of terms and rows, the coefficients and delta alone. Were it
// chosen by looking at which bound came out smaller, that bound would fail more often than delta.
#pragma once

#include <cstdint>
#include <span>

namespace bregboost {

struct BinomialTerm {
  double coefficient = 1.0;  // finite, not 0
  std::int64_t events = 0;   // 0 to rows
  std::int64_t rows = 0;     // at least 1
};

enum class LinearMethod {
  kBinomial,  // one term: Clopper-Pearson
  kTwoBinomials,
  kChernoff,
  kUnion,
};

// One term: kBinomial. Two terms: kTwoBinomials up to a million rows, beyond which it takes
// seconds. Else the narrower of kChernoff and kUnion if all rates were 1/2 and the sums normal.
LinearMethod ChooseLinearMethod(std::span<const BinomialTerm> terms, double delta);

// At least sum_a c_a p_a with a probability of at least 1 - delta. Throws std::invalid_argument for
// terms out of range, or if their number does not fit the method.
double LinearUpperBound(std::span<const BinomialTerm> terms, double delta, LinearMethod method);
double LinearUpperBound(std::span<const BinomialTerm> terms, double delta);

// The test: whether the sum is shown to be at most `bound`, by the chosen method. True wherever the
// upper bound is at most `bound`, and cheaper.
bool LinearSumIsBelow(std::span<const BinomialTerm> terms, double bound, double delta);

// Chernoff's bound above, on the probability of a sum as small as the observed one if the true sum
// is `bound` or more, over all rates in [0, 1]: a valid p-value for the claim sum c_a p_a < bound.
double ChernoffPValue(std::span<const BinomialTerm> terms, double bound);

// A lower confidence bound on p_numerator / p_denominator of two disjoint sets by kTwoBinomials.
// Outcomes are ordered by how clearly they show a ratio of `target`, finite and above 0, fixed
// beforehand; the bound is valid for any and sharpest near that ratio. 0 if nothing can be said.
struct BinomialCount {
  std::int64_t events = 0;  // 0 to rows
  std::int64_t rows = 0;    // at least 1
};
double RatioLowerBound(BinomialCount numerator, BinomialCount denominator, double target,
                       double delta);

}  // namespace bregboost
