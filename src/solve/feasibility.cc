#include "bregboost/solve/feasibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "detail/option_checks.h"
#include "solve/detail/primal_dual_loop.h"

namespace bregboost {
namespace {

// How far around the point reached the verdict "infeasible" looks, in lengths of the way to it.
constexpr double kRadius = 2.0;

double Largest(const std::vector<double>& values) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const double value : values) {
    if (std::isnan(value)) return value;
    largest = std::max(largest, value);
  }
  return largest;
}

// The loop over convex models of max_j g_j around the current point.
class FeasibilitySearch {
 public:
  FeasibilitySearch(ProximalLearner& learner, ConstraintSet& constraints,
                    const FeasibilityOptions& options, const SolveHooks& hooks)
      : learner_(learner), constraints_(constraints), options_(options), hooks_(hooks) {}

  FeasibilityResult Run() {
    result_.values = learner_.ReadValues(constraints_).surrogate;
    result_.start_violation = result_.smallest_violation = Largest(result_.values);
    if (constraints_.size() == 0 || Found()) return result_;
    result_.needed = true;
    for (std::int64_t outer = 0;; ++outer) {
      if (std::isnan(result_.smallest_violation)) return End(TerminationReason::kNumericalError);
      if (outer >= options_.max_outer_iterations) return End(TerminationReason::kIterationLimit);
      const double before = result_.smallest_violation;
      const TerminationReason inner = Improve(outer);
      if (Found()) return End(TerminationReason::kFeasible);
      if (inner == TerminationReason::kInterrupted || inner == TerminationReason::kTimeLimit ||
          inner == TerminationReason::kStalled || inner == TerminationReason::kEarlyStopped ||
          inner == TerminationReason::kNumericalError) {
        return End(inner);
      }
      // A convex problem that is solved is settled; others are once a round brings nothing more.
      const bool settled = constraints_.convex() ||
                           before - result_.smallest_violation <= options_.improvement_tolerance;
      if (inner == TerminationReason::kConverged && settled) {
        return End(TerminationReason::kInfeasible);
      }
      if (inner == TerminationReason::kIterationLimit && settled) return End(inner);
    }
  }

 private:
  // Rounding can keep a point that touches its limit just above it.
  bool Found() const {
    return result_.smallest_violation <=
           options_.target + options_.subproblem.termination.feasibility_tolerance;
  }

  // One convex model, solved; keeps the better of the points before and after.
  TerminationReason Improve(std::int64_t outer) {
    const std::unique_ptr<ModelState> before = learner_.Save();
    const std::unique_ptr<ConstraintSet> majorizer =
        constraints_.convex() ? nullptr : constraints_.Majorize(learner_.scores());
    learner_.SetAnchor();
    detail::LoopSettings settings;
    settings.objective_weight = 0.0;
    settings.dual_set = detail::DualSet::kSimplex;
    settings.may_pause = false;
    settings.follow_bound_schedule = false;
    settings.phase = SolvePhase::kFeasibility;
    settings.outer = outer;
    settings.start = start_;
    settings.evaluations_before = result_.history.empty() ? 0 : result_.history.back().evaluations;
    if (majorizer == nullptr && !constraints_.convex()) {
      settings.constraint_anchor =
          2.0 * constraints_.WeakConvexityBound() * learner_.ScoreSensitivity();
      if (!std::isfinite(settings.constraint_anchor)) {
        throw std::invalid_argument(
            "surrogate: its curvature has no bound, so there is no convex model to look for a "
            "feasible point in; allowed: surrogates without a clip");
      }
    }
    settings.stop = [&](const IterationStats& stats,
                        const std::vector<double>& g) -> std::optional<TerminationReason> {
      if (Largest(g) <= options_.target) return TerminationReason::kFeasible;
      // With v = sum y_j dg_j, convexity gives max_j g_j(x') >= max_j g_j(x) - gap - ||v|| ||x' -
      // x||: no point within a radius can do much better.
      const double radius = kRadius * (1.0 + std::sqrt(2.0 * learner_.AnchorDistance()));
      const double possible_gain = stats.complementarity + stats.stationarity * radius;
      if (possible_gain <= options_.verdict_tolerance * Largest(g)) {
        return TerminationReason::kConverged;
      }
      return std::nullopt;
    };
    ConstraintSet& model = majorizer ? *majorizer : constraints_;
    AbppResult inner =
        detail::RunPrimalDualLoop(learner_, model, options_.subproblem, settings, hooks_);
    std::vector<double> values = learner_.ReadValues(constraints_).surrogate;
    result_.history.insert(result_.history.end(), inner.history.begin(), inner.history.end());
    if (Largest(values) < result_.smallest_violation) {
      result_.smallest_violation = Largest(values);
      result_.values = std::move(values);
    } else {
      learner_.Restore(*before);
    }
    return inner.reason;
  }

  FeasibilityResult End(TerminationReason reason) {
    result_.reason = reason;
    return std::move(result_);
  }

  ProximalLearner& learner_;
  ConstraintSet& constraints_;
  const FeasibilityOptions& options_;
  const SolveHooks& hooks_;
  detail::Clock::time_point start_ = detail::Clock::now();
  FeasibilityResult result_;
};

}  // namespace

AbppOptions FeasibilitySubproblem() {
  AbppOptions options;
  options.step_ratio = 30.0;
  options.termination.max_iterations = 2000;
  return options;
}

void Validate(const FeasibilityOptions& options, std::size_t num_constraints) {
  if (!(options.target <= 0.0) || !std::isfinite(options.target)) {
    throw std::invalid_argument(
        fmt::format("target: {}; allowed: a finite number, at most 0", options.target));
  }
  detail::RequirePositive("improvement_tolerance", options.improvement_tolerance);
  if (!(options.verdict_tolerance > 0.0 && options.verdict_tolerance < 1.0)) {
    throw std::invalid_argument(
        fmt::format("verdict_tolerance: {}; allowed: between 0 and 1", options.verdict_tolerance));
  }
  detail::RequireAtLeast<std::int64_t>("max_outer_iterations", options.max_outer_iterations, 1);
  Validate(options.subproblem, num_constraints);
}

FeasibilityResult FindFeasible(ProximalLearner& learner, ConstraintSet& constraints,
                               const FeasibilityOptions& options, const SolveHooks& hooks) {
  Validate(options, constraints.size());
  return FeasibilitySearch(learner, constraints, options, hooks).Run();
}

}  // namespace bregboost
