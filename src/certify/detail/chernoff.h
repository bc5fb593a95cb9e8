// Chernoff's bound on a sum of independent binomials, maximised over rates. See linear_bounds.h.
#pragma once

#include <span>
#include <vector>

#include "bregboost/certify/linear_bounds.h"

namespace bregboost::detail {

// A term with a positive coefficient whose rate is between `low` and `high`.
struct ConfinedTerm {
  double coefficient = 1.0;
  double rows = 1.0;
  double low = 0.0;
  double high = 1.0;
};

// At least log P(sum_a c_a k_a / n_a <= total) for all rates of the intervals whose sum c'p is
// `bound` or more; -infinity if there are none, 0 if nothing better is known.
double LogChernoffBound(std::span<const ConfinedTerm> terms, double total, double bound);

}  // namespace bregboost::detail
