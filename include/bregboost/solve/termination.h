// When to stop: a pure function of one stats row, so its tests need no solver.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "bregboost/solve/iteration_stats.h"

namespace bregboost {

enum class TerminationReason {
  kConverged,   // every tolerance is met
  kFeasible,    // feasibility phase: a feasible point is found
  kInfeasible,  // feasibility phase: the smallest worst violation found is positive
  kIterationLimit,
  kTimeLimit,
  kInterrupted,     // by the flag or the callback
  kStalled,         // the learner found no step to make, and nothing else is moving
  kEarlyStopped,    // the learner stopped by a rule of its own, such as a held-out loss
  kNumericalError,  // a value is NaN or infinite, or a sub-problem could not be solved
};
std::string_view Name(TerminationReason reason);

struct TerminationCriteria {
  double feasibility_tolerance = 1e-6;                           // on the surrogate violation; >= 0
  double complementarity_tolerance = 1e-6;                       // >= 0
  double stationarity_tolerance = 1e-6;                          // >= 0
  std::int64_t max_iterations = 10'000;                          // >= 0
  double max_seconds = std::numeric_limits<double>::infinity();  // > 0

  bool operator==(const TerminationCriteria&) const = default;
};
void Validate(const TerminationCriteria& criteria);

// Reads nothing but its arguments. NaN anywhere in the stats is an error, never convergence.
std::optional<TerminationReason> CheckTermination(const TerminationCriteria& criteria,
                                                  const IterationStats& stats, bool interrupted);

}  // namespace bregboost
