// Looks for a point that holds every surrogate constraint: min_x max_j g_j(x) by the primal-dual
// iteration with multipliers on the unit simplex, stopped as soon as the maximum is not positive.
#pragma once

#include <cstdint>
#include <vector>

#include "bregboost/solve/abpp.h"

namespace bregboost {

// Without an objective the model may have far to go while multipliers stay below 1, so primal steps
// are long; the verdict needs no more than a few digits.
AbppOptions FeasibilitySubproblem();

struct FeasibilityOptions {
  // Found when max_j g_j <= target, up to the sub-problem's feasibility tolerance; at most 0.
  double target = 0.0;
  // Infeasible when no point within twice the way gone from the start can lower max_j g_j by more
  // than this share of it, by a bound that convexity gives; in (0, 1).
  double verdict_tolerance = 0.01;
  // An outer iteration that lowers max_j g_j by less ends the search; > 0.
  double improvement_tolerance = 1e-6;
  std::int64_t max_outer_iterations = 50;  // > 0; convex sets need one
  AbppOptions subproblem = FeasibilitySubproblem();
};
void Validate(const FeasibilityOptions& options, std::size_t num_constraints);

struct FeasibilityResult {
  bool needed = false;              // the starting point was not feasible
  double start_violation = 0.0;     // max_j g_j at the starting point
  double smallest_violation = 0.0;  // max_j g_j where the search ended: the smallest reached
  std::vector<double> values;       // g_j there
  // kFeasible; kInfeasible: no point near is feasible, by the bound above for convex constraints,
  // by their convex models for others; kIterationLimit: neither was settled; or why it ended early.
  TerminationReason reason = TerminationReason::kFeasible;
  std::vector<IterationStats> history;
};

// The learner ends at the best point found.
FeasibilityResult FindFeasible(ProximalLearner& learner, ConstraintSet& constraints,
                               const FeasibilityOptions& options, const SolveHooks& hooks = {});

}  // namespace bregboost
