#include "bregboost/solve/rate_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "bregboost/solve/scale_free_ascent.h"
#include "detail/option_checks.h"

namespace bregboost {
namespace {

using Clock = std::chrono::steady_clock;

void RequireShare(const char* field, double value) {
  if (value >= 0.0 && value < 1.0) return;
  throw std::invalid_argument(fmt::format("{}: {}; allowed: at least 0 and below 1", field, value));
}

// One run; its state is what the loop below reads.
class RateTraining {
 public:
  RateTraining(CrossFitLearner& learner, const RateProblem& unseen, const RateProblem& training,
               const RateTrainingOptions& options, const SolveHooks& hooks)
      : learner_(learner),
        unseen_(unseen),
        training_(training),
        options_(options),
        hooks_(hooks),
        ascent_(unseen.largest_charges(), options.dual_rate, options.rho),
        tail_multipliers_(unseen.num_limits(), 0.0) {
    if (unseen.num_limits() != training.num_limits()) {
      throw std::invalid_argument(
          fmt::format("training rows: {} limits, unseen rows: {}; allowed: the same groups in both",
                      training.num_limits(), unseen.num_limits()));
    }
    if (!options.initial_multipliers.empty()) ascent_.Set(options.initial_multipliers);
    const std::int64_t rounds = options.rounds > 0 ? options.rounds : learner.requested_rounds();
    const std::int64_t per_step = learner.rounds_per_step();
    steps_ = (rounds + per_step - 1) / per_step;
  }

  RateTrainingResult Run() {
    Record(0, Judge());
    learner_.ResetAverage();
    for (std::int64_t k = 0; k < steps_; ++k) {
      if (Interrupted()) break;
      if (k >= ShareOf(options_.warm_up)) MoveMultipliers();
      const StepOutcome outcome = TakeStep();
      if (!outcome.stalled.empty()) {
        result_.reason = TerminationReason::kStalled;
        result_.detail = outcome.stalled;
        break;
      }
      const Judgement judgement = Judge();
      if (k + 1 >= ShareOf(options_.choose_from)) Consider(k + 1, judgement);
      if (2 * k >= steps_) AddToTail();
      Record(k + 1, judgement);
      if (!outcome.stopped.empty()) {
        result_.reason = TerminationReason::kEarlyStopped;
        result_.detail = outcome.stopped;
        break;
      }
    }
    return Finish();
  }

 private:
  struct Judgement {
    std::vector<double> sums;
    double cost = 0.0;
    double violation = 0.0;
    double merit = 0.0;
  };

  std::int64_t ShareOf(double share) const {
    return static_cast<std::int64_t>(std::llround(share * static_cast<double>(steps_)));
  }

  bool Interrupted() {
    const bool flagged = hooks_.interrupt != nullptr && hooks_.interrupt->load();
    if (flagged || stopped_by_callback_) result_.reason = TerminationReason::kInterrupted;
    return flagged || stopped_by_callback_;
  }

  Judgement Judge() {
    Judgement now;
    now.sums = unseen_.rates().ExactSums(learner_.scores());
    now.cost = unseen_.Cost(now.sums);
    now.violation = unseen_.TotalViolation(now.sums);
    now.merit = now.cost + options_.rho * now.violation;
    sums_ = now.sums;
    return now;
  }

  void MoveMultipliers() { ascent_.Step(unseen_.Excess(sums_), /*extrapolate=*/true); }

  StepOutcome TakeStep() {
    const RowData& rows = training_.rows();
    if (rows.task() != Task::kRegression) {
      result_.step_costs.push_back(PullsFromCharges(training_.compiled().cells,
                                                    training_.CostTable(ascent_.multipliers()),
                                                    rows.labels.levels.size()));
      return learner_.StepOnCosts(result_.step_costs.back(), options_.tau);
    }
    // The objective is the loss, which is the cost already.
    std::vector<double> multipliers = ascent_.multipliers();
    multipliers.push_back(0.0);
    result_.step_multipliers.push_back(multipliers);
    return learner_.Step({.constraints = &learner_.unseen(),
                          .multipliers = result_.step_multipliers.back(),
                          .objective_weight = 1.0,
                          .tau = options_.tau,
                          .anchor_weight = 0.0,
                          .modulus = std::nullopt,
                          .accuracy = {.delta = 0.0, .nu = 1e-6}});
  }

  void Consider(std::int64_t steps, const Judgement& now) {
    if (options_.choice == IterateChoice::kTailAverage) return;
    // An undefined rate has no finite merit; the first iterate still beats having none.
    if (best_state_ != nullptr && !(now.merit < result_.merit)) return;
    best_state_ = learner_.Save();
    result_.merit = now.merit;
    result_.steps_kept = steps;
  }

  void AddToTail() {
    ++tail_steps_;
    for (std::size_t j = 0; j < tail_multipliers_.size(); ++j) {
      tail_multipliers_[j] += ascent_.multipliers()[j];
    }
    if (options_.choice == IterateChoice::kTailAverage) learner_.AccumulateAverage(1.0);
  }

  void Record(std::int64_t k, const Judgement& now) {
    const std::vector<double>& multipliers = ascent_.multipliers();
    IterationStats stats;
    stats.k = k;
    stats.objective = now.cost;
    stats.surrogate_violation = std::numeric_limits<double>::quiet_NaN();
    stats.exact_violation = now.violation;
    stats.stationarity = std::numeric_limits<double>::quiet_NaN();
    stats.multiplier_sum = std::accumulate(multipliers.begin(), multipliers.end(), 0.0);
    stats.max_multiplier =
        multipliers.empty() ? 0.0 : *std::max_element(multipliers.begin(), multipliers.end());
    stats.tau = options_.tau;
    stats.evaluations = k * learner_.rounds_per_step();
    stats.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    result_.history.push_back(stats);
    if (hooks_.on_iteration && !hooks_.on_iteration(stats)) stopped_by_callback_ = true;
  }

  RateTrainingResult Finish() {
    result_.multipliers = ascent_.multipliers();
    if (tail_steps_ > 0) {
      for (std::size_t j = 0; j < tail_multipliers_.size(); ++j) {
        result_.multipliers[j] = tail_multipliers_[j] / static_cast<double>(tail_steps_);
      }
    }
    if (best_state_ != nullptr) {
      learner_.Restore(*best_state_);
    } else {
      if (tail_steps_ > 0) learner_.UseAverage();
      result_.steps_kept = static_cast<std::int64_t>(result_.history.size()) - 1;
      result_.merit = Judge().merit;
    }
    const auto kept = static_cast<std::size_t>(result_.steps_kept);
    if (result_.step_costs.size() > kept) result_.step_costs.resize(kept);
    if (result_.step_multipliers.size() > kept) result_.step_multipliers.resize(kept);
    return std::move(result_);
  }

  CrossFitLearner& learner_;
  const RateProblem& unseen_;
  const RateProblem& training_;
  const RateTrainingOptions& options_;
  const SolveHooks& hooks_;
  Clock::time_point begin_ = Clock::now();
  std::int64_t steps_ = 0;
  ScaleFreeAscent ascent_;
  std::vector<double> sums_;  // of the current point
  std::vector<double> tail_multipliers_;
  std::int64_t tail_steps_ = 0;
  std::unique_ptr<ModelState> best_state_;
  bool stopped_by_callback_ = false;
  RateTrainingResult result_;
};

}  // namespace

std::string_view Name(IterateChoice choice) {
  switch (choice) {
    case IterateChoice::kBest:
      return "best";
    case IterateChoice::kTailAverage:
      return "tail_average";
  }
  return "";
}

void Validate(const RateTrainingOptions& options) {
  detail::RequireNonNegative("rho", options.rho);
  detail::RequirePositive("dual_rate", options.dual_rate);
  detail::RequirePositive("tau", options.tau);
  RequireShare("warm_up", options.warm_up);
  RequireShare("choose_from", options.choose_from);
  detail::RequireAtLeast<std::int64_t>("rounds", options.rounds, 0);
}

std::vector<double> PullsFromCharges(const CellTable& cells, std::span<const double> charges,
                                     std::size_t num_classes) {
  std::vector<double> pulls(charges.begin(), charges.end());
  double total = 0.0, weight = 0.0;
  for (std::size_t cell = 0; cell < cells.cells.size(); ++cell) {
    const auto row = std::span(pulls).subspan(cell * num_classes, num_classes);
    const double largest = *std::max_element(row.begin(), row.end());
    for (double& pull : row) {
      pull = largest - pull;
      total += cells.cells[cell].rate_weight * pull;
    }
    weight += cells.cells[cell].rate_weight;
  }
  if (total > 0.0) {
    for (double& pull : pulls) pull *= weight / total;
  }
  return pulls;
}

RateTrainingResult TrainOnRates(CrossFitLearner& learner, const RateProblem& unseen,
                                const RateProblem& training, const RateTrainingOptions& options,
                                const SolveHooks& hooks) {
  Validate(options);
  return RateTraining(learner, unseen, training, options, hooks).Run();
}

}  // namespace bregboost
