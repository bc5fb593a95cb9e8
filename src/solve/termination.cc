#include "bregboost/solve/termination.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "detail/option_checks.h"

namespace bregboost {
namespace {

// Stationarity is infinite at the starting point and accuracy_reached may be unknown, so those two
// are checked for NaN only where that means trouble.
bool IsSound(const IterationStats& stats) {
  return std::isfinite(stats.objective) && std::isfinite(stats.surrogate_violation) &&
         std::isfinite(stats.complementarity) && std::isfinite(stats.max_multiplier) &&
         !std::isnan(stats.stationarity) && !std::isnan(stats.exact_violation);
}

}  // namespace

std::string_view Name(SolvePhase phase) {
  return phase == SolvePhase::kFeasibility ? "feasibility" : "main";
}

std::string_view Name(TerminationReason reason) {
  switch (reason) {
    case TerminationReason::kConverged:
      return "converged";
    case TerminationReason::kFeasible:
      return "feasible";
    case TerminationReason::kInfeasible:
      return "infeasible";
    case TerminationReason::kIterationLimit:
      return "iteration_limit";
    case TerminationReason::kTimeLimit:
      return "time_limit";
    case TerminationReason::kInterrupted:
      return "interrupted";
    case TerminationReason::kStalled:
      return "stalled";
    case TerminationReason::kEarlyStopped:
      return "early_stopped";
    case TerminationReason::kNumericalError:
      return "numerical_error";
  }
  return "unknown";
}

void Validate(const TerminationCriteria& criteria) {
  detail::RequireNonNegative("feasibility_tolerance", criteria.feasibility_tolerance);
  detail::RequireNonNegative("complementarity_tolerance", criteria.complementarity_tolerance);
  detail::RequireNonNegative("stationarity_tolerance", criteria.stationarity_tolerance);
  detail::RequireAtLeast<std::int64_t>("max_iterations", criteria.max_iterations, 0);
  if (!(criteria.max_seconds > 0.0)) {
    throw std::invalid_argument(
        fmt::format("max_seconds: {}; allowed: above 0", criteria.max_seconds));
  }
}

std::optional<TerminationReason> CheckTermination(const TerminationCriteria& criteria,
                                                  const IterationStats& stats, bool interrupted) {
  if (!IsSound(stats)) return TerminationReason::kNumericalError;
  if (interrupted) return TerminationReason::kInterrupted;
  if (stats.surrogate_violation <= criteria.feasibility_tolerance &&
      stats.complementarity <= criteria.complementarity_tolerance &&
      stats.stationarity <= criteria.stationarity_tolerance) {
    return TerminationReason::kConverged;
  }
  if (stats.k >= criteria.max_iterations) return TerminationReason::kIterationLimit;
  if (stats.seconds >= criteria.max_seconds) return TerminationReason::kTimeLimit;
  return std::nullopt;
}

}  // namespace bregboost
