#include "solve/detail/primal_dual_loop.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace bregboost::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double Norm(const std::vector<double>& a, const std::vector<double>& b) {
  double total = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) total += (a[j] - b[j]) * (a[j] - b[j]);
  return std::sqrt(total);
}

bool AllFinite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

// The symbols of the paper, as in the header's table: y multipliers, g values, z extrapolation.
class PrimalDualLoop {
 public:
  PrimalDualLoop(ProximalLearner& learner, ConstraintSet& constraints, const AbppOptions& options,
                 const LoopSettings& settings, const SolveHooks& hooks)
      : learner_(learner),
        constraints_(constraints),
        options_(options),
        settings_(settings),
        hooks_(hooks),
        mu_(options.strong_convexity.value_or(
            settings.objective_weight * learner.StrongConvexity() + settings.objective_anchor)) {
    weak_convexity_ = constraints.WeakConvexityBound() * learner.ScoreSensitivity();
    InitializeMultipliers();
    ChooseSteps();
  }

  AbppResult Run() {
    if (follows_schedule()) UpdateBounds(0.0);
    Evaluate();
    previous_g_ = g_;  // x_{-1} = x_0, hence z_0 = g(x_0)
    double previous_sigma = step_.sigma();
    if (!anchored()) learner_.SetAnchor();  // Rebalance measures from x_0
    StartAverage();
    for (stats_.k = 0;; ++stats_.k) {
      FillStats();
      result_.history.push_back(stats_);
      const auto reason = Stop();
      const bool converged = reason == TerminationReason::kConverged;
      if (reason && !converged) return Finish(*reason);
      if (!FollowBoundSchedule(converged) && converged) return Finish(*reason);
      if (settings_.may_pause) {
        before_step_ = nullptr;
        learner_.Pause();
      }
      const StepOutcome outcome = TakeStep(previous_sigma);
      last_pull_ = std::sqrt(2.0 * outcome.distance) / step_.tau;
      stats_.stationarity = *last_pull_ + outcome.residual;
      // A learner that cannot move, or knows no residual, shows nothing about the point it is at.
      if (!outcome.stalled.empty() || std::isnan(outcome.residual)) {
        stats_.stationarity = kInfinity;
      }
      stats_.averaging_weight = step_.sigma() / sigma_0_;  // t_k = sigma_k / sigma_0
      if (options_.use_average) learner_.AccumulateAverage(stats_.averaging_weight);
      AverageMultipliers();
      previous_sigma = step_.sigma();
      NextSteps();
      if (Rebalance()) previous_sigma = step_.sigma();  // theta = 1, as at a start
    }
  }

 private:
  void InitializeMultipliers() {
    y_ = options_.initial_multipliers;
    if (y_.empty()) {
      const double start = settings_.dual_set == DualSet::kSimplex && constraints_.size() > 0
                               ? 1.0 / static_cast<double>(constraints_.size())
                               : 0.0;
      y_.assign(constraints_.size(), start);
    }
    if (settings_.dual_set == DualSet::kSimplex) ProjectOntoSimplex(y_);
    first_y_ = y_;
  }

  bool anchored() const {
    return settings_.objective_anchor > 0.0 || settings_.constraint_anchor > 0.0;
  }

  bool follows_schedule() const {
    return settings_.follow_bound_schedule && constraints_.has_bound_schedule();
  }

  void StartAverage() {
    learner_.ResetAverage();
    average_y_.assign(y_.size(), 0.0);
    average_weight_ = 0.0;
    sigma_0_ = step_.sigma();
  }

  // tau_0 sigma_0 L_g^2 <= step_safety. The anchor's part of g has no global Lipschitz bound, nor
  // do squared losses: there only steps that are checked, or given, will do.
  void ChooseSteps() {
    const double lipschitz = constraints_.LipschitzBound() * std::sqrt(learner_.ScoreSensitivity());
    const bool given = options_.primal_step && options_.dual_step;
    checks_steps_ = options_.step_rule == StepRule::kAdaptive;
    if (!checks_steps_ && !given &&
        (!std::isfinite(lipschitz) || settings_.constraint_anchor > 0.0)) {
      throw std::invalid_argument(
          "step_rule: 'computed' on constraints without a Lipschitz bound; allowed: 'adaptive', or "
          "both primal_step and dual_step");
    }
    if (constraints_.size() == 0 && !given) {
      // Nothing to balance: a step so long that it is the unconstrained minimisation.
      step_.tau = tau_0_ = 1e8;
      return;
    }
    const double usable = std::isfinite(lipschitz) && lipschitz > 0.0 ? lipschitz : 1.0;
    step_.tau = options_.primal_step.value_or(
        options_.dual_step ? LargestDualStep(*options_.dual_step, usable, options_.step_safety)
                           : options_.step_ratio * std::sqrt(options_.step_safety) / usable);
    const double sigma =
        options_.dual_step.value_or(LargestDualStep(step_.tau, usable, options_.step_safety));
    step_.gamma = sigma / step_.tau;
    tau_0_ = step_.tau;
  }

  void Evaluate() {
    LearnerValues values = learner_.Evaluate(constraints_);
    objective_ = values.objective;
    values_ = std::move(values.constraints);
    g_ = values_.surrogate;
    if (settings_.constraint_anchor > 0.0) {
      const double extra = settings_.constraint_anchor * learner_.AnchorDistance();
      for (double& value : g_) value += extra;
    }
  }

  void FillStats() {
    stats_.phase = settings_.phase;
    stats_.outer = settings_.outer;
    stats_.objective = objective_;
    stats_.tau = step_.tau;
    stats_.sigma = step_.sigma();
    stats_.exact_violation = values_.worst_exact_violation;
    stats_.values = values_.measured;
    stats_.surrogate_violation = stats_.complementarity = 0.0;
    stats_.max_multiplier = stats_.multiplier_sum = 0.0;
    stats_.multipliers = y_;
    double largest = -kInfinity;
    double weighted = 0.0;
    for (std::size_t j = 0; j < y_.size(); ++j) {
      stats_.surrogate_violation = std::max(stats_.surrogate_violation, g_[j]);
      stats_.complementarity = std::max(stats_.complementarity, std::abs(y_[j] * g_[j]));
      stats_.max_multiplier = std::max(stats_.max_multiplier, y_[j]);
      stats_.multiplier_sum += y_[j];
      largest = std::max(largest, g_[j]);
      weighted += y_[j] * g_[j];
    }
    // On the simplex the gap max_j g_j - <y, g> takes the place of complementarity.
    if (settings_.dual_set == DualSet::kSimplex) stats_.complementarity = largest - weighted;
    // std::max drops NaN; a NaN constraint must not read as satisfied.
    if (!AllFinite(g_) || !AllFinite(y_)) {
      stats_.surrogate_violation = std::numeric_limits<double>::quiet_NaN();
    }
    stats_.seconds = std::chrono::duration<double>(Clock::now() - settings_.start).count();
    stats_.evaluations = settings_.evaluations_before + evaluations_;
  }

  std::optional<TerminationReason> Stop() {
    const bool go_on = !hooks_.on_iteration || hooks_.on_iteration(stats_);
    const bool interrupted = !go_on || (hooks_.interrupt != nullptr && hooks_.interrupt->load());
    const auto reason = CheckTermination(options_.termination, stats_, interrupted);
    const bool broken =
        reason == TerminationReason::kNumericalError || reason == TerminationReason::kInterrupted;
    if (settings_.stop && !broken) {
      if (const auto special = settings_.stop(stats_, g_)) return special;
    }
    if (broken) return reason;
    if (reason == TerminationReason::kConverged && IsStationary()) return reason;
    if (!stopped_.empty()) return TerminationReason::kEarlyStopped;
    // While multipliers move, so does psi, and a later step may find what this one did not.
    const bool last_chance = reason == TerminationReason::kIterationLimit || !multipliers_moved_;
    if (!stalled_.empty() && last_chance) return TerminationReason::kStalled;
    if (reason != TerminationReason::kConverged) return reason;
    const bool out_of_rounds = stats_.k >= options_.termination.max_iterations;
    return out_of_rounds ? std::optional(TerminationReason::kIterationLimit) : std::nullopt;
  }

  // What a step says of a residual is a guess where the step was inexact; before it ends the solve,
  // the point itself is asked.
  bool IsStationary() const {
    if (!std::isnan(stats_.accuracy_reached)) return true;
    return learner_.StationarityResidual(constraints_, y_, settings_.objective_weight) <=
           options_.termination.stationarity_tolerance;
  }

  bool UpdateBounds(double progress) {
    return constraints_.UpdateBounds(progress, [this](const ConstraintSet::ScoreReading& reading) {
      return learner_.Read(reading);
    });
  }

  // Bounds that follow a schedule shift g; the previous values shift with them, so that the
  // extrapolation sees the change of x alone.
  // Convergence under the first bounds is not the end: the schedule then moves on at once.
  bool FollowBoundSchedule(bool converged) {
    if (!follows_schedule()) return false;
    const auto limit =
        static_cast<double>(std::max<std::int64_t>(1, options_.termination.max_iterations));
    const double progress = converged ? 1.0 : static_cast<double>(stats_.k) / limit;
    // Progress 0 means a start.
    if (progress == 0.0 || !UpdateBounds(progress)) return false;
    const std::vector<double> before = g_;
    Evaluate();
    for (std::size_t j = 0; j < g_.size(); ++j) previous_g_[j] += g_[j] - before[j];
    return true;
  }

  // z_k = (1 + theta) g(x_k) - theta g(x_{k-1});  y_{k+1} = projection of y_k + sigma z_k
  std::vector<double> NextMultipliers(double theta) const {
    std::vector<double> next(y_.size());
    for (std::size_t j = 0; j < y_.size(); ++j) {
      const double z = (1.0 + theta) * g_[j] - theta * previous_g_[j];
      next[j] = y_[j] + step_.sigma() * z;
      if (settings_.dual_set == DualSet::kOrthant) next[j] = std::max(0.0, next[j]);
    }
    if (settings_.dual_set == DualSet::kSimplex) ProjectOntoSimplex(next);
    return next;
  }

  // x_{k+1} ~ argmin w f(x) + <y_{k+1}, g(x)> + D_W(x, x_k) / tau + (anchor) D_W(x, x_t)
  StepOutcome TakeStep(double previous_sigma) {
    const std::vector<double> g_before = g_;
    before_step_ = checks_steps_ ? learner_.Save() : nullptr;
    constexpr int kMostRetries = 60;
    for (int attempt = 0;; ++attempt) {
      const SubproblemAccuracy accuracy = Accuracy();
      const double theta = previous_sigma / step_.sigma();  // theta_k = sigma_{k-1} / sigma_k
      const std::vector<double> next = NextMultipliers(theta);
      const double sum = std::accumulate(next.begin(), next.end(), 0.0);
      const StepOutcome outcome = learner_.Step(
          {.constraints = &constraints_,
           .multipliers = next,
           .objective_weight = settings_.objective_weight,
           .tau = step_.tau,
           .anchor_weight = settings_.objective_anchor + settings_.constraint_anchor * sum,
           .modulus = Modulus(sum),
           .accuracy = accuracy});
      evaluations_ += outcome.evaluations;
      Evaluate();
      const std::optional<double> room = StepRoom(g_before, outcome.distance);
      const bool too_long = checks_steps_ && room.value_or(1.0) < 1.0;
      const bool repeatable = GoesAsFarAsAsked(outcome) && outcome.stopped.empty();
      if (too_long && repeatable && attempt < kMostRetries) {
        constexpr double kMargin = 0.9;  // so that the repeated step passes
        step_.tau *= kMargin * *room;
        learner_.Restore(*before_step_);
        g_ = g_before;
        continue;
      }
      room_ = room;
      multipliers_moved_ = next != y_;
      stalled_ = outcome.stalled;
      stopped_ = outcome.stopped;
      y_ = next;
      previous_g_ = g_before;
      stats_.accuracy_requested = accuracy.delta * outcome.distance + accuracy.nu;
      stats_.accuracy_reached = outcome.suboptimality;
      return outcome;
    }
  }

  // The paper's schedule, but no coarser than a tenth of the last step, lest the schedule rather
  // than the iteration set the pace, and no finer than the tolerances can tell or than values of
  // psi in double precision resolve. psi is 1/tau-strongly convex, so a residual r costs at most
  // tau r^2 / 2.
  SubproblemAccuracy Accuracy() const {
    SubproblemAccuracy accuracy = AccuracyAt(stats_.k, tau_0_, mu_, options_.accuracy_scale);
    const auto cost = [&](double residual) { return 0.5 * step_.tau * residual * residual; };
    if (last_pull_) accuracy.nu = std::min(accuracy.nu, cost(0.1 * *last_pull_));
    const TerminationCriteria& criteria = options_.termination;
    const double finest = std::min({criteria.stationarity_tolerance, criteria.feasibility_tolerance,
                                    criteria.complementarity_tolerance});
    constexpr double kResolution = 1e-9;
    accuracy.nu = std::max(accuracy.nu, cost(std::max(kResolution, 0.05 * finest)));
    return accuracy;
  }

  // What psi keeps of its convexity where <y, g> bends down by up to rho sum(y).
  double Modulus(double multiplier_sum) const {
    const double left = settings_.constraint_anchor - weak_convexity_;
    return 1.0 / step_.tau + settings_.objective_anchor +
           std::min(left, settings_.constraint_anchor) * multiplier_sum;
  }

  // A boosting round goes as far as its learning rate lets it, whatever tau is: made again with
  // shorter steps it would go the same way. It stays, and the next steps are the shorter ones.
  static bool GoesAsFarAsAsked(const StepOutcome& outcome) {
    return !std::isnan(outcome.suboptimality);
  }

  // The factor by which both steps could grow and still meet tau sigma L^2 <= step_safety for the L
  // seen in the step just made; below 1 the step was too long. None where it was too short to tell.
  std::optional<double> StepRoom(const std::vector<double>& g_before, double distance) const {
    const double length = std::sqrt(2.0 * distance);
    const double change = Norm(g_, g_before);
    constexpr double kTooShort = 1e-10;
    if (!std::isfinite(change) || length <= kTooShort || change <= kTooShort) {
      return std::nullopt;
    }
    return std::sqrt(options_.step_safety / (step_.tau * step_.sigma())) * length / change;
  }

  // The convergence proof asks for gamma_{k+1} <= gamma_k (1 + mu tau_k) only. The schedule takes
  // equality for ever, which sends tau to 0 and the rate to 1/k^2; once tau is down to 1/mu, a
  // shorter primal step is of no use, and the adaptive rule keeps the ratio. The common scale of
  // both steps follows the L seen last.
  void NextSteps() {
    if (!checks_steps_) {
      step_ = step_.Next(mu_);
      return;
    }
    if (mu_ * step_.tau > 1.0) step_ = step_.Next(mu_);
    constexpr double kMostGrowth = 1.2;
    if (room_) step_.tau *= std::min(0.95 * *room_, kMostGrowth);
  }

  // The bound on the gap is ||x* - x_0||^2 / (2 tau) + ||y* - y_0||^2 / (2 sigma) over the number
  // of iterations, smallest where sqrt(tau / sigma) is the ratio of the two distances. After 10,
  // 20, 40, ... iterations the way gone so far stands in for the way to go, and the iteration
  // starts afresh from where it is with the better ratio: the theory holds from each start, and so
  // does the average. Half the ratio of the lengths did best over the problems of tests/python. A
  // learner that does not know how well it solves its sub-problems (a boosting round goes as far as
  // its learning rate lets it, whatever tau is) shows no way gone that could be measured by.
  bool Rebalance() {
    if (!checks_steps_ || std::isnan(stats_.accuracy_reached) || mu_ > 0.0 ||
        stats_.k + 1 != next_rebalance_)
      return false;
    next_rebalance_ *= 2;
    const double primal = std::sqrt(2.0 * learner_.AnchorDistance());
    const double dual = Norm(y_, first_y_);
    constexpr double kTooShort = 1e-8;
    if (!(primal > kTooShort) || !(dual > kTooShort)) return false;
    const double ratio = 0.5 * primal / dual;  // sqrt(tau / sigma)
    const double product = std::sqrt(step_.tau * step_.sigma());
    step_ = {.tau = product * ratio, .gamma = 1.0 / (ratio * ratio)};
    previous_g_ = g_;  // a start has nothing to extrapolate from
    StartAverage();
    return true;
  }

  void AverageMultipliers() {
    average_weight_ += stats_.averaging_weight;
    const double share = stats_.averaging_weight / average_weight_;
    for (std::size_t j = 0; j < y_.size(); ++j) average_y_[j] += share * (y_[j] - average_y_[j]);
  }

  AbppResult Finish(TerminationReason reason) {
    if (reason == TerminationReason::kNumericalError && before_step_) {
      learner_.Restore(*before_step_);  // the last point that was sound
    } else if (reason == TerminationReason::kEarlyStopped && !options_.use_average) {
      learner_.ReturnToBest();
      Evaluate();
      FillStats();  // of the model that is returned
    } else if (options_.use_average) {
      learner_.UseAverage();
      Evaluate();
      FillStats();  // of the model that is returned
    }
    result_.convex = constraints_.convex();
    result_.multipliers = y_;
    result_.average_multipliers = average_weight_ > 0.0 ? average_y_ : y_;
    result_.stats = stats_;
    result_.reason = reason;
    if (reason == TerminationReason::kStalled) result_.detail = stalled_;
    if (reason == TerminationReason::kEarlyStopped) result_.detail = stopped_;
    return std::move(result_);
  }

  ProximalLearner& learner_;
  ConstraintSet& constraints_;
  const AbppOptions& options_;
  const LoopSettings& settings_;
  const SolveHooks& hooks_;
  double mu_;
  double weak_convexity_ = 0.0;  // rho: 0 for convex constraints
  StepSizes step_;
  double tau_0_ = 0.0;
  bool checks_steps_ = false;
  std::unique_ptr<ModelState> before_step_;
  std::optional<double> last_pull_;  // ||x_k - x_{k-1}|| / tau_{k-1}
  std::optional<double> room_;       // of the last step, see StepRoom
  std::vector<double> y_, first_y_, average_y_, g_, previous_g_;
  double average_weight_ = 0.0;
  double sigma_0_ = 0.0;  // of the current average
  std::int64_t next_rebalance_ = 10;
  double objective_ = 0.0;
  ConstraintValues values_;
  bool multipliers_moved_ = true;  // in the last step, which
  std::string stalled_, stopped_;  // said so
  IterationStats stats_;
  std::int64_t evaluations_ = 0;
  AbppResult result_;
};

}  // namespace

AbppResult RunPrimalDualLoop(ProximalLearner& learner, ConstraintSet& constraints,
                             const AbppOptions& options, const LoopSettings& settings,
                             const SolveHooks& hooks) {
  return PrimalDualLoop(learner, constraints, options, settings, hooks).Run();
}

// Sort-based: the largest `rho` entries stay positive after the shift that makes them sum to one.
void ProjectOntoSimplex(std::vector<double>& y) {
  std::vector<double> sorted = y;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0.0;
  double shift = 0.0;
  for (std::size_t j = 0; j < sorted.size(); ++j) {
    sum += sorted[j];
    const double candidate = (sum - 1.0) / static_cast<double>(j + 1);
    if (sorted[j] > candidate) shift = candidate;
  }
  for (double& value : y) value = std::max(0.0, value - shift);
}

}  // namespace bregboost::detail
