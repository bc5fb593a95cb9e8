// Exact confidence bounds on one rate from a count of independent rows (Clopper & Pearson,
// "The use of confidence or fiducial limits illustrated in the case of the binomial", 1934).
#pragma once

#include <cstdint>
#include <optional>

namespace bregboost {

// `events` of `rows` rows, 0 <= events <= rows and rows >= 1; 0 < delta < 1. Throw
// std::invalid_argument otherwise.
//
// The largest rate p for which at most `events` events still have a probability of delta. It is
// below the true rate with a probability of at most delta, whatever the true rate is.
double BinomialUpperBound(std::int64_t events, std::int64_t rows, double delta);

// The mirror image: above the true rate with a probability of at most delta.
double BinomialLowerBound(std::int64_t events, std::int64_t rows, double delta);

// About how many rows show that a rate is at most `bound` if they show the rate `observed`: the
// upper bound at so many rows is `bound`. Exact for observed = 0. Nothing if the observed rate is
// not below the bound, is NaN, or if more than 1e12 rows were needed. A floor on a rate is the
// ceiling 1 - bound on 1 - observed.
std::optional<std::int64_t> RowsNeeded(double observed, double bound, double delta);

}  // namespace bregboost
