// Offsets from multipliers, where every limit and the cost charge only for errors of whole classes:
// the decision of least expected charge is then the largest of log p_k + log(charge of class k).
#pragma once

#include <vector>

#include "bregboost/problem/rate_problem.h"
#include "calibrate/detail/offset_search.h"

namespace bregboost::detail {

// True if the cost and every limit charge rows by their label alone, alike for all wrong
// predictions and nothing for the right one.
bool ChargesClassErrorsOnly(const RateProblem& problem);

struct DualResult {
  OffsetPoint best;
  std::vector<double> multipliers;
};
// Scale-free ascent on exact rates; the iterate of least merit is kept.
DualResult TakeDualSteps(const RateProblem& problem, double rho, OffsetJudge& judge);

}  // namespace bregboost::detail
