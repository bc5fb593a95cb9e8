// What the best threshold makes of two classes' scores, without sorting them: cheap enough to ask
// after every round of boosting, and as good for rows that workers have between them.
#pragma once

#include <span>

#include "bregboost/problem/rate_problem.h"

namespace bregboost {

// problem.Merit at the best threshold on a grid over all scores, and on a finer one around the best
// of those: at most what the best of all thresholds has, or hardly more. Two classes only.
double MeritOfBestThreshold(std::span<const double> scores, const RateProblem& problem, double rho);

}  // namespace bregboost
