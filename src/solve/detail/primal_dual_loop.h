// The iteration that ABPP, CBPR's sub-problems and the feasibility phase share.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "bregboost/solve/abpp.h"

namespace bregboost::detail {

// Where multipliers live: y >= 0 for constraints; the unit simplex for min_x max_j g_j(x), the
// feasibility phase.
enum class DualSet { kOrthant, kSimplex };

// Time is counted from the start of the whole solve, not of one loop.
using Clock = std::chrono::steady_clock;

struct LoopSettings {
  double objective_weight = 1.0;
  // L of CBPR: f and every g_j gain L D_W(x, anchor).
  double objective_anchor = 0.0;
  double constraint_anchor = 0.0;
  DualSet dual_set = DualSet::kOrthant;
  bool may_pause = true;  // off where what is held around the loop comes from single scores
  bool follow_bound_schedule = true;  // off where an outer loop calls UpdateBounds itself
  SolvePhase phase = SolvePhase::kMain;
  std::int64_t outer = 0;
  std::int64_t evaluations_before = 0;  // by earlier loops of the same solve
  Clock::time_point start = Clock::now();
  // Reads the stats and g(x_k); null means CheckTermination.
  std::function<std::optional<TerminationReason>(const IterationStats&, const std::vector<double>&)>
      stop;
};

AbppResult RunPrimalDualLoop(ProximalLearner& learner, ConstraintSet& constraints,
                             const AbppOptions& options, const LoopSettings& settings,
                             const SolveHooks& hooks);

// Euclidean projection onto {y >= 0, sum y = 1}.
void ProjectOntoSimplex(std::vector<double>& y);

}  // namespace bregboost::detail
