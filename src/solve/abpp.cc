#include "bregboost/solve/abpp.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "detail/option_checks.h"
#include "solve/detail/primal_dual_loop.h"

namespace bregboost {
std::string_view Name(StepRule rule) {
  return rule == StepRule::kComputed ? "computed" : "adaptive";
}

void Validate(const AbppOptions& options, std::size_t num_constraints) {
  if (options.primal_step) detail::RequirePositive("primal_step", *options.primal_step);
  if (options.dual_step) detail::RequirePositive("dual_step", *options.dual_step);
  detail::RequirePositive("step_ratio", options.step_ratio);
  detail::RequirePositive("accuracy_scale", options.accuracy_scale);
  if (!(options.step_safety > 0.0 && options.step_safety <= 1.0)) {
    throw std::invalid_argument(
        fmt::format("step_safety: {}; allowed: above 0, at most 1", options.step_safety));
  }
  if (options.strong_convexity) {
    detail::RequireNonNegative("strong_convexity", *options.strong_convexity);
  }
  const std::vector<double>& y = options.initial_multipliers;
  if (!y.empty() && y.size() != num_constraints) {
    throw std::invalid_argument(fmt::format("initial_multipliers: {} values; allowed: none, or {}",
                                            y.size(), num_constraints));
  }
  for (const double value : y) {
    if (value >= 0.0 && std::isfinite(value)) continue;
    throw std::invalid_argument(
        fmt::format("initial_multipliers: {}; allowed: finite numbers, at least 0", value));
  }
  Validate(options.termination);
}

AbppResult SolveAbpp(ProximalLearner& learner, ConstraintSet& constraints,
                     const AbppOptions& options, const SolveHooks& hooks) {
  Validate(options, constraints.size());
  return detail::RunPrimalDualLoop(learner, constraints, options, detail::LoopSettings{}, hooks);
}

}  // namespace bregboost
