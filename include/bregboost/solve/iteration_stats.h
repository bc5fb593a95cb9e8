// One row per iteration, for callbacks, logs and the saved history alike.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

namespace bregboost {

enum class SolvePhase {
  kFeasibility,  // looking for a point that holds every surrogate constraint
  kMain,
};
std::string_view Name(SolvePhase phase);

// Row k describes (x_k, y_k); row 0 is the starting point.
struct IterationStats {
  SolvePhase phase = SolvePhase::kMain;
  std::int64_t outer = 0;  // CBPR: the outer iteration that this row belongs to
  std::int64_t k = 0;
  double objective = 0.0;
  double surrogate_violation = 0.0;  // max_j max(0, g_j), smooth events
  double exact_violation = 0.0;      // worst constraint as written, 0-1 events, user's unit
  double complementarity = 0.0;      // max_j |y_j g_j|, surrogate
  // sqrt(2 D_W(x_k, x_{k-1})) / tau_{k-1} + the residual of the step's sub-problem: bounds the norm
  // of df + <y, dg>. A learner that does not know its residual (boosted trees) leaves a proxy.
  // Infinite at k = 0.
  double stationarity = std::numeric_limits<double>::infinity();
  double max_multiplier = 0.0;
  double multiplier_sum = 0.0;
  double tau = 0.0;  // the steps of the next iteration
  double sigma = 0.0;
  double averaging_weight = 0.0;    // t_{k-1} of x_k in the ergodic average; 0 at k = 0
  double accuracy_requested = 0.0;  // delta_k D_W + nu_k of the step that led here
  double accuracy_reached = 0.0;    // a bound on its sub-problem's suboptimality; NaN if unknown
  // CBPR's rows between outer iterations; NaN elsewhere.
  double fritz_john = std::numeric_limits<double>::quiet_NaN();
  std::int64_t evaluations = 0;          // total so far
  double seconds = 0.0;                  // since the solve began
  std::vector<double> multipliers = {};  // y_k, one per limit
  // Of every constraint as written, 0-1 events, user's unit; empty where only limits are known.
  std::vector<double> values = {};
};

// Return false to stop with TerminationReason::kInterrupted.
using IterationCallback = std::function<bool(const IterationStats&)>;

}  // namespace bregboost
