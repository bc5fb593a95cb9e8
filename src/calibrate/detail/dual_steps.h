// Offsets from multipliers, where every limit and the cost charge only for errors of whole classes:
// the decision of least expected charge is then the largest of log p_k + log(charge of class k).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "bregboost/problem/rate_problem.h"
#include "calibrate/detail/offset_search.h"

namespace bregboost::detail {

struct ClassCharges {
  std::vector<double> of_cost;       // for an error of each class, without any limit
  std::vector<std::size_t> bounded;  // the classes whose errors some limit charges
};
// Nothing unless the cost and every limit charge rows by their label alone, alike for all wrong
// predictions and nothing for the right one.
std::optional<ClassCharges> ReadClassCharges(const RateProblem& problem);

// log(charge), but for classes that cost nothing, which get a finite offset below the others.
std::vector<double> OffsetsOfCharges(const std::vector<double>& charges);

struct DualResult {
  OffsetPoint best;
  std::vector<double> multipliers;
};
// Scale-free ascent on exact rates; the iterate of least merit is kept. `biases` are added to all
// offsets; none are zeros.
DualResult TakeDualSteps(const RateProblem& problem, double rho, const std::vector<double>& biases,
                         OffsetJudge& judge);

}  // namespace bregboost::detail
