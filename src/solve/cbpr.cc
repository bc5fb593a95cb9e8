#include "bregboost/solve/cbpr.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "detail/option_checks.h"
#include "solve/detail/primal_dual_loop.h"

namespace bregboost {
namespace {

class CbprSolve {
 public:
  CbprSolve(ProximalLearner& learner, ConstraintSet& constraints, const CbprOptions& options,
            const SolveHooks& hooks)
      : learner_(learner),
        constraints_(constraints),
        options_(options),
        hooks_(hooks),
        rho_(constraints.WeakConvexityBound() * learner.ScoreSensitivity()) {
    result_.proximal_weight = ChooseProximalWeight();
    subproblem_ = options.subproblem;
    subproblem_.use_average = false;
    SetSubproblemTolerances();
  }

  CbprResult Run() {
    UpdateBounds(0.0);
    multipliers_ = options_.subproblem.initial_multipliers;
    multipliers_.resize(constraints_.size(), 0.0);
    if (!BecomeFeasible()) {
      Record(0);
      return End(result_.feasibility.reason);
    }
    for (std::int64_t outer = 0;; ++outer) {
      Record(outer);
      const auto reason = Stop(outer);
      const bool converged = reason == TerminationReason::kConverged;
      if (reason && !converged) return End(*reason);
      const bool new_bounds = FollowBoundSchedule(outer, converged);
      if (converged && !new_bounds) return End(*reason);
      // The new bounds may shut the current point out.
      if (new_bounds && !BecomeFeasible()) return End(result_.feasibility.reason);
      const TerminationReason inner = SolveSubproblem(outer);
      // A sub-problem that could not be started on will not fare better next time.
      const bool stuck = inner == TerminationReason::kStalled && learner_.AnchorDistance() == 0.0;
      if (stuck || inner == TerminationReason::kInterrupted ||
          inner == TerminationReason::kEarlyStopped ||
          inner == TerminationReason::kNumericalError) {
        Record(outer + 1);
        return End(inner);
      }
    }
  }

 private:
  bool BecomeFeasible() {
    FeasibilityOptions feasibility = options_.feasibility;
    double& seconds = feasibility.subproblem.termination.max_seconds;
    seconds = std::min(seconds, options_.subproblem.termination.max_seconds);
    FeasibilityResult found = FindFeasible(learner_, constraints_, feasibility, hooks_);
    if (!found.history.empty()) evaluations_ += found.history.back().evaluations;
    const bool feasible = found.reason == TerminationReason::kFeasible;
    // A later search that finds the point still feasible says nothing about the start.
    if (result_.history.empty() || found.needed) result_.feasibility = std::move(found);
    return feasible;
  }

  std::optional<TerminationReason> Stop(std::int64_t outer) {
    const IterationStats& row = result_.history.back();
    const bool go_on = !hooks_.on_iteration || hooks_.on_iteration(row);
    if (!std::isfinite(row.objective) || !std::isfinite(row.fritz_john)) {
      return TerminationReason::kNumericalError;
    }
    if (!go_on || (hooks_.interrupt != nullptr && hooks_.interrupt->load())) {
      return TerminationReason::kInterrupted;
    }
    if (row.fritz_john <= options_.fritz_john_tolerance) return TerminationReason::kConverged;
    if (outer >= options_.max_outer_iterations) return TerminationReason::kIterationLimit;
    if (row.seconds >= options_.subproblem.termination.max_seconds) {
      return TerminationReason::kTimeLimit;
    }
    return std::nullopt;
  }

  bool UpdateBounds(double progress) {
    return constraints_.UpdateBounds(progress, [this](const ConstraintSet::ScoreReading& reading) {
      return learner_.Read(reading);
    });
  }

  // As in ABPP: at half of the iterations, or at once where the first bounds are solved.
  bool FollowBoundSchedule(std::int64_t outer, bool converged) {
    const auto limit =
        static_cast<double>(std::max<std::int64_t>(1, options_.max_outer_iterations));
    const double progress = converged ? 1.0 : static_cast<double>(outer) / limit;
    return progress > 0.0 && UpdateBounds(progress);
  }

  double ChooseProximalWeight() const {
    if (options_.form == CbprForm::kLinearized) return options_.proximal_weight.value_or(0.01);
    if (!std::isfinite(rho_)) {
      throw std::invalid_argument(
          "surrogate: its curvature has no bound, so no L makes the constraints convex; "
          "allowed: surrogates without a clip");
    }
    const double weight = options_.proximal_weight.value_or(std::max(2.0 * rho_, 1.0));
    if (weight <= rho_) {
      throw std::invalid_argument(fmt::format(
          "proximal_weight: {}; allowed: above {}, the weak convexity of the constraints", weight,
          rho_));
    }
    return weight;
  }

  // eps_3 = eps_4 = (L - rho) eps^2 / (4 L^2) for W = I. A stationarity residual s of the
  // L-strongly convex sub-problem bounds its objective error by s^2 / (2 L) + sum of |y_j g_j|.
  void SetSubproblemTolerances() {
    const double l = result_.proximal_weight;
    const double slack = options_.form == CbprForm::kProximal ? l - rho_ : l;
    const double eps = options_.fritz_john_tolerance;
    const double accuracy = slack * eps * eps / (4.0 * l * l);
    // Sub-problems are minimised through values of psi, which resolve x to about 1e-8.
    constexpr double kRounding = 1e-8;
    TerminationCriteria& criteria = subproblem_.termination;
    criteria.feasibility_tolerance = std::max(accuracy, kRounding);
    criteria.complementarity_tolerance = std::max(accuracy, kRounding);
    criteria.stationarity_tolerance = std::sqrt(2.0 * l * accuracy);
  }

  TerminationReason SolveSubproblem(std::int64_t outer) {
    learner_.Pause();
    learner_.SetAnchor();
    std::unique_ptr<ConstraintSet> majorizer;
    detail::LoopSettings settings;
    settings.objective_anchor = result_.proximal_weight;
    if (options_.form == CbprForm::kLinearized) {
      majorizer = constraints_.Majorize(learner_.scores());
      if (majorizer == nullptr) {
        throw std::invalid_argument(
            "form: 'linearized' needs constraints with a difference-of-convex form; allowed with "
            "this surrogate: 'proximal'");
      }
    } else {
      settings.constraint_anchor = result_.proximal_weight;
    }
    settings.may_pause = false;
    settings.follow_bound_schedule = false;
    settings.outer = outer;
    settings.start = start_;
    settings.evaluations_before = evaluations_;
    subproblem_.initial_multipliers = multipliers_;
    const AbppResult inner = detail::RunPrimalDualLoop(
        learner_, majorizer ? *majorizer : constraints_, subproblem_, settings, hooks_);
    multipliers_ = inner.multipliers;
    if (subproblem_.step_rule == StepRule::kAdaptive && inner.stats.k > 0) {
      // The next sub-problem is much like this one: keep the steps that it found.
      subproblem_.primal_step = inner.stats.tau;
      subproblem_.dual_step = inner.stats.sigma;
    }
    evaluations_ = inner.stats.evaluations;
    result_.detail = inner.detail;
    last_inner_ = inner.stats;
    return inner.reason;
  }

  // Row t of the history describes (x_t, y_t) by the original constraints.
  void Record(std::int64_t outer) {
    const ConstraintValues values = learner_.ReadValues(constraints_);
    result_.fritz_john = MeasureFritzJohn(learner_, constraints_, multipliers_);
    IterationStats row = last_inner_;
    row.outer = row.k = outer;
    row.objective = learner_.objective();
    row.surrogate_violation = result_.fritz_john.violation;
    row.exact_violation = values.worst_exact_violation;
    row.values = values.measured;
    row.multipliers = multipliers_;
    row.multiplier_sum = std::accumulate(multipliers_.begin(), multipliers_.end(), 0.0);
    row.max_multiplier =
        multipliers_.empty() ? 0.0 : *std::max_element(multipliers_.begin(), multipliers_.end());
    row.complementarity = result_.fritz_john.complementarity;
    row.stationarity = result_.fritz_john.stationarity;
    row.fritz_john = result_.fritz_john.worst();
    row.evaluations = evaluations_;
    row.seconds = std::chrono::duration<double>(detail::Clock::now() - start_).count();
    result_.history.push_back(row);
  }

  CbprResult End(TerminationReason reason) {
    if (reason != TerminationReason::kStalled && reason != TerminationReason::kEarlyStopped) {
      result_.detail.clear();  // of a sub-problem on the way
    }
    result_.multipliers = multipliers_;
    result_.reason = reason;
    return std::move(result_);
  }

  ProximalLearner& learner_;
  ConstraintSet& constraints_;
  const CbprOptions& options_;
  const SolveHooks& hooks_;
  double rho_;
  AbppOptions subproblem_;
  std::vector<double> multipliers_;
  std::int64_t evaluations_ = 0;
  IterationStats last_inner_;
  detail::Clock::time_point start_ = detail::Clock::now();
  CbprResult result_;
};

}  // namespace

std::string_view Name(CbprForm form) {
  return form == CbprForm::kProximal ? "proximal" : "linearized";
}

void Validate(const CbprOptions& options, std::size_t num_constraints) {
  if (options.proximal_weight) {
    detail::RequirePositive("proximal_weight", *options.proximal_weight);
  }
  detail::RequirePositive("fritz_john_tolerance", options.fritz_john_tolerance);
  detail::RequireAtLeast<std::int64_t>("max_outer_iterations", options.max_outer_iterations, 0);
  Validate(options.subproblem, num_constraints);
  Validate(options.feasibility, num_constraints);
}

double FritzJohnResidual::worst() const {
  // std::max drops NaN in one order and keeps it in the other; a sum keeps it always.
  if (std::isnan(stationarity + complementarity + violation)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return std::max({stationarity, complementarity, violation});
}

FritzJohnResidual MeasureFritzJohn(const ProximalLearner& learner, const ConstraintSet& constraints,
                                   std::span<const double> multipliers) {
  const std::vector<double> phi = learner.ReadValues(constraints).surrogate;
  const double total = 1.0 + std::accumulate(multipliers.begin(), multipliers.end(), 0.0);
  FritzJohnResidual residual;
  residual.objective_multiplier = 1.0 / total;
  residual.stationarity =
      learner.StationarityResidual(constraints, multipliers, /*objective_weight=*/1.0) / total;
  for (std::size_t j = 0; j < phi.size(); ++j) {
    const double product = std::abs(multipliers[j] * phi[j]) / total;
    if (std::isnan(phi[j])) residual.violation = phi[j];
    residual.complementarity = std::max(residual.complementarity, product);
    if (phi[j] > residual.violation) residual.violation = phi[j];
  }
  return residual;
}

CbprResult SolveCbpr(ProximalLearner& learner, ConstraintSet& constraints,
                     const CbprOptions& options, const SolveHooks& hooks) {
  Validate(options, constraints.size());
  return CbprSolve(learner, constraints, options, hooks).Run();
}

}  // namespace bregboost
