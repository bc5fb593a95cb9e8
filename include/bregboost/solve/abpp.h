// ABPP: min f(x) s.t. g_j(x) <= 0, j = 1..m, for convex g. An accelerated primal-dual proximal
// point method (Lin & Deng, Algorithm 1).
//
// Paper -> code: y_k multipliers | tau_k StepSizes::tau | gamma_k StepSizes::gamma | sigma_k
// StepSizes::sigma() | L_g lipschitz | mu strong_convexity | t_k averaging weight | D_W the
// learner's. docs/math.md has the whole table and the convergence statements.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bregboost/problem/constraint_set.h"
#include "bregboost/solve/iteration_stats.h"
#include "bregboost/solve/proximal_learner.h"
#include "bregboost/solve/termination.h"

namespace bregboost {

enum class StepRule {
  // tau_k and sigma_k follow the schedule from steps that meet tau_0 sigma_0 L_g^2 <= step_safety
  // with the computed, global L_g. Needs a finite L_g or explicit steps.
  kComputed,
  // Starts there (or at 1), then scales both steps by the L_g seen from x_k to x_{k+1}, all that
  // the convergence proof uses. A step that breaks the condition is taken back, but for a boosting
  // round, which no shorter step would change: there the next steps are the shorter ones.
  kAdaptive,
};
std::string_view Name(StepRule rule);

struct AbppOptions {
  StepRule step_rule = StepRule::kAdaptive;
  // tau_0 > 0. Default: step_ratio sqrt(step_safety) / L_g.
  std::optional<double> primal_step;
  // sigma_0 > 0. Default: the largest that meets the step condition. Given together with tau_0
  // under kComputed, the condition is the caller's to keep.
  std::optional<double> dual_step;
  // sqrt(tau_0 / sigma_0) where neither is given; > 0. Large values suit distant solutions with
  // small multipliers.
  double step_ratio = 1.0;
  double step_safety = 1.0;  // the paper's delta, in (0, 1]
  // mu >= 0. Default: what the learner knows of f; 0 keeps the ratio of the steps constant.
  std::optional<double> strong_convexity;
  // Multiplies the sub-problems' accuracy schedule; > 0. Sub-problems are solved to a residual of a
  // twentieth of the smallest tolerance (at least 1e-9) and no further.
  double accuracy_scale = 1.0;
  // Return the ergodic average in place of the last iterate.
  bool use_average = false;
  std::vector<double> initial_multipliers = {};  // y_0 >= 0; empty means 0
  TerminationCriteria termination = {};
};
// Throws std::invalid_argument naming the field; `num_constraints` is m.
void Validate(const AbppOptions& options, std::size_t num_constraints);

struct AbppResult {
  std::vector<double> multipliers;          // y_K
  std::vector<double> average_multipliers;  // weighted by t_k
  IterationStats stats;                     // of the last iteration, or of the average
  std::vector<IterationStats> history;      // every iteration, row 0 first
  TerminationReason reason = TerminationReason::kIterationLimit;
  std::string detail;  // kStalled and kEarlyStopped: the learner's words
  bool convex = true;  // else a point that meets the tolerances is stationary, no more
};

// Who watches a solve. Both may be absent.
struct SolveHooks {
  IterationCallback on_iteration;
  const std::atomic<bool>* interrupt = nullptr;
};

// The learner ends at x_K (or the average) whatever the reason.
AbppResult SolveAbpp(ProximalLearner& learner, ConstraintSet& constraints,
                     const AbppOptions& options, const SolveHooks& hooks = {});

}  // namespace bregboost
