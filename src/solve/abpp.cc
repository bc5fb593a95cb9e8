#include "bregboost/solve/abpp.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "solve/detail/primal_dual_loop.h"

namespace bregboost {
namespace {

void CheckPositive(const char* field, double value) {
  if (value > 0.0 && std::isfinite(value)) return;
  throw std::invalid_argument(
      fmt::format("{}: {}; allowed: a finite number above 0", field, value));
}

}  // namespace

std::string_view Name(StepRule rule) {
  return rule == StepRule::kComputed ? "computed" : "adaptive";
}

void Validate(const AbppOptions& options, std::size_t num_constraints) {
  if (options.primal_step) CheckPositive("primal_step", *options.primal_step);
  if (options.dual_step) CheckPositive("dual_step", *options.dual_step);
  CheckPositive("step_ratio", options.step_ratio);
  CheckPositive("accuracy_scale", options.accuracy_scale);
  if (!(options.step_safety > 0.0 && options.step_safety <= 1.0)) {
    throw std::invalid_argument(
        fmt::format("step_safety: {}; allowed: above 0, at most 1", options.step_safety));
  }
  const double mu = options.strong_convexity.value_or(0.0);
  if (!(mu >= 0.0) || !std::isfinite(mu)) {
    throw std::invalid_argument(
        fmt::format("strong_convexity: {}; allowed: a finite number, at least 0", mu));
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
