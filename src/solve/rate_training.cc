#include "bregboost/solve/rate_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "bregboost/solve/scale_free_ascent.h"
#include "detail/option_checks.h"
#include "solve/detail/averaging_shift.h"
#include "solve/detail/tightened_limits.h"

namespace bregboost {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Without limits a step needs no proximal term; a linear model's has one for its form only.
constexpr double kFarAway = 1e8;

// How often limits are tightened anew, as a share of all steps: models grow apart slowly, and all
// their scores are read for it.
constexpr double kTightenedEvery = 0.1;

// How often a plain training is judged, as a share of all steps.
constexpr double kJudgedEvery = 0.1;

void RequireShare(const char* field, double value) {
  if (value >= 0.0 && value < 1.0) return;
  throw std::invalid_argument(fmt::format("{}: {}; allowed: at least 0 and below 1", field, value));
}

double TauOf(const RateTrainingOptions& options, const RateProblem& problem) {
  return problem.rows().task() == Task::kRegression ? options.loss_tau : options.tau;
}

// The rounds of a training in steps of a few; the last step takes those that are left.
class RoundSchedule {
 public:
  RoundSchedule(CrossFitLearner& learner, const RateTrainingOptions& options)
      : learner_(learner),
        rounds_(options.rounds > 0 ? options.rounds : learner.requested_rounds()),
        per_step_(learner.rounds_per_step()) {}
  ~RoundSchedule() { learner_.SetRoundsPerStep(per_step_); }
  RoundSchedule(const RoundSchedule&) = delete;
  RoundSchedule& operator=(const RoundSchedule&) = delete;

  std::int64_t steps() const { return (rounds_ + per_step_ - 1) / per_step_; }
  std::int64_t RoundsAfter(std::int64_t steps) const {
    return std::min(steps * per_step_, rounds_);
  }
  // Step `k`, from 0, is the learner's next one.
  void Prepare(std::int64_t k) { learner_.SetRoundsPerStep(RoundsAfter(k + 1) - RoundsAfter(k)); }

 private:
  CrossFitLearner& learner_;
  std::int64_t rounds_, per_step_;
};

// Keeps the history, and listens to whoever wants to stop.
class Watch {
 public:
  Watch(const CrossFitLearner& learner, const RoundSchedule& schedule, const RateProblem& unseen,
        const RateTrainingOptions& options, const SolveHooks& hooks)
      : learner_(learner), schedule_(schedule), unseen_(unseen), options_(options), hooks_(hooks) {}

  // Rates of the unseen rows as they are now.
  struct Judgement {
    std::vector<double> sums;
    double cost = 0.0;
    double violation = 0.0;
    double merit = 0.0;
  };
  Judgement Judge() const {
    Judgement now;
    now.sums = learner_.Read(
        [this](std::span<const double> scores) { return unseen_.rates().ExactSums(scores); });
    now.cost = unseen_.Cost(now.sums);
    now.violation = unseen_.TotalViolation(now.sums);
    now.merit = unseen_.Merit(now.sums, options_.rho);
    return now;
  }

  void Record(std::int64_t k, const Judgement& now, std::span<const double> multipliers) {
    IterationStats stats;
    stats.k = k;
    stats.objective = now.cost;
    stats.surrogate_violation = kNan;
    stats.exact_violation = now.violation;
    stats.complementarity = kNan;
    stats.stationarity = kNan;
    stats.multiplier_sum = std::accumulate(multipliers.begin(), multipliers.end(), 0.0);
    stats.max_multiplier =
        multipliers.empty() ? 0.0 : *std::max_element(multipliers.begin(), multipliers.end());
    stats.multipliers.assign(multipliers.begin(), multipliers.end());
    for (const Measurement& constraint : unseen_.Measure(now.sums)) {
      stats.values.push_back(constraint.value);
    }
    stats.tau = TauOf(options_, unseen_);
    stats.evaluations = schedule_.RoundsAfter(k);
    stats.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    history.push_back(stats);
    if (hooks_.on_iteration && !hooks_.on_iteration(stats)) stopped_ = true;
  }

  // Why no further step should be made, in `result`; true if there is a reason.
  bool Ends(const StepOutcome& outcome, RateTrainingResult& result) const {
    if (outcome.stalled.empty() && outcome.stopped.empty()) return false;
    result.reason =
        outcome.stalled.empty() ? TerminationReason::kEarlyStopped : TerminationReason::kStalled;
    result.detail = outcome.stalled.empty() ? outcome.stopped : outcome.stalled;
    return true;
  }
  bool Interrupted(RateTrainingResult& result) const {
    double stop = stopped_ || (hooks_.interrupt != nullptr && hooks_.interrupt->load()) ? 1.0 : 0.0;
    // All workers stop, or none.
    const bool may_stop = hooks_.on_iteration || hooks_.interrupt != nullptr;
    if (may_stop && unseen_.rows().workers) unseen_.rows().workers->Max({&stop, 1});
    if (stop == 0.0) return false;
    result.reason = TerminationReason::kInterrupted;
    return true;
  }

  std::vector<IterationStats> history;

 private:
  const CrossFitLearner& learner_;
  const RoundSchedule& schedule_;
  const RateProblem& unseen_;
  const RateTrainingOptions& options_;
  const SolveHooks& hooks_;
  Clock::time_point begin_ = Clock::now();
  bool stopped_ = false;
};

double JudgeScores(const CrossFitLearner& learner, const RateTrainingOptions& options) {
  return learner
      .Read([&options](std::span<const double> scores) {
        return std::vector<double>{options.judge(scores)};
      })
      .front();
}

// Which iterate of a plain training the judge likes best.
class PlainChoice {
 public:
  PlainChoice(CrossFitLearner& learner, const RateTrainingOptions& options, std::int64_t steps)
      : learner_(learner),
        options_(options),
        judges_(options.judge && !learner.stops_early() && !learner.solves_steps()),
        every_(std::max<std::int64_t>(1, std::llround(kJudgedEvery * static_cast<double>(steps)))) {
  }

  void Consider(std::int64_t steps, bool last) {
    if (!judges_ || steps == judged_ || (!last && steps % every_ != 0)) return;
    judged_ = steps;
    const double loss = JudgeScores(learner_, options_);
    if (state_ != nullptr && !(loss < loss_)) return;
    state_ = learner_.Save();
    loss_ = loss;
    steps_ = steps;
  }

  // Back to it; `steps` are all that were made.
  std::int64_t Return(std::int64_t steps) {
    if (!judges_) {
      learner_.ReturnToBest();  // as the libraries do, also where the rounds ran out first
    } else if (state_ != nullptr && steps_ < steps) {
      learner_.Restore(*state_);
      return steps_;
    }
    return steps;
  }

 private:
  CrossFitLearner& learner_;
  const RateTrainingOptions& options_;
  bool judges_;
  std::int64_t every_;
  std::int64_t judged_ = 0, steps_ = 0;
  double loss_ = 0.0;
  std::unique_ptr<ModelState> state_;
};

class RateTraining {
 public:
  RateTraining(CrossFitLearner& learner, RateProblem& unseen, const RateProblem& training,
               const RateTrainingOptions& options, const SolveHooks& hooks)
      : learner_(learner),
        unseen_(unseen),
        training_(training),
        options_(options),
        schedule_(learner, options),
        steps_(schedule_.steps()),
        watch_(learner, schedule_, unseen, options, hooks),
        ascent_(unseen.largest_charges(), options.dual_rate, options.rho),
        tail_multipliers_(unseen.num_limits(), 0.0),
        tail_squares_(unseen.num_limits(), 0.0) {
    if (unseen.num_limits() != training.num_limits()) {
      throw std::invalid_argument(
          fmt::format("training rows: {} limits, unseen rows: {}; allowed: the same groups in both",
                      training.num_limits(), unseen.num_limits()));
    }
    result_.tau = TauOf(options, unseen);
    if (!options.initial_multipliers.empty()) ascent_.Set(options.initial_multipliers);
  }

  RateTrainingResult Run() {
    const std::int64_t first_move = ShareOf(options_.warm_up);
    const std::int64_t first_choice = ShareOf(options_.choose_from);
    const std::int64_t tightened_every = std::max<std::int64_t>(1, ShareOf(kTightenedEvery));
    Watch::Judgement now = watch_.Judge();
    watch_.Record(0, now, ascent_.multipliers());
    learner_.ResetAverage();
    for (std::int64_t k = 0; k < steps_ && !watch_.Interrupted(result_); ++k) {
      learner_.Pause();
      if (k == first_move) tightened_.emplace(unseen_, options_.margin, now.sums);
      if (k >= first_move && (k - first_move) % tightened_every == 0) TightenLimits(now.sums);
      if (k >= first_move) ascent_.Step(unseen_.Excess(now.sums), /*extrapolate=*/true);
      schedule_.Prepare(k);
      const StepOutcome outcome = TakeStep();
      const bool last = watch_.Ends(outcome, result_);
      if (!outcome.stalled.empty()) break;
      ++steps_taken_;
      now = watch_.Judge();
      if (k + 1 >= first_choice) Consider(now);
      if (2 * k >= steps_) AddToTail();
      watch_.Record(k + 1, now, ascent_.multipliers());
      if (last) break;
    }
    Finish();
    return std::move(result_);
  }

 private:
  std::int64_t ShareOf(double share) const {
    return static_cast<std::int64_t>(std::llround(share * static_cast<double>(steps_)));
  }

  void TightenLimits(std::span<const double> sums) {
    std::vector<double> shift;
    if (options_.deploys_mean && learner_.models_per_row() > 0) {
      shift = learner_.Read([this](std::span<const double> /*scores*/) {
        return detail::AveragingShift(learner_, unseen_.rates());
      });
    }
    unseen_.SetAllowances(tightened_->Allowances(unseen_, sums, shift));
  }

  StepOutcome TakeStep() {
    const RowData& rows = training_.rows();
    if (rows.task() != Task::kRegression) {
      result_.step_costs.push_back(PullsFromCharges(training_.compiled().cells,
                                                    training_.CostTable(ascent_.multipliers()),
                                                    rows.labels.levels.size()));
      return learner_.StepOnCosts(result_.step_costs.back(), result_.tau);
    }
    // The learner's objective is the loss of all rows; another cost takes its place.
    const RateExpression& cost = unseen_.objective().expression;
    const bool is_loss = cost.terms.size() == 1 && cost.terms.front().rate.where.empty();
    std::vector<double> multipliers = ascent_.multipliers();
    multipliers.push_back(is_loss ? 0.0 : 1.0);
    result_.step_multipliers.push_back(std::move(multipliers));
    ProximalStep step;
    step.constraints = &learner_.unseen();
    step.multipliers = result_.step_multipliers.back();
    step.objective_weight = is_loss ? 1.0 : 0.0;
    step.tau = result_.tau;
    step.measured = false;
    return learner_.Step(step);
  }

  void Consider(const Watch::Judgement& now) {
    if (options_.choice == IterateChoice::kTailAverage) return;
    // An undefined rate has no finite merit; the first iterate still beats having none.
    const double merit = options_.judge ? JudgeScores(learner_, options_) : now.merit;
    if (best_state_ != nullptr && !(merit < result_.merit)) return;
    best_state_ = learner_.Save();
    result_.merit = merit;
    result_.steps_kept = steps_taken_;
  }

  void AddToTail() {
    ++tail_steps_;
    for (std::size_t j = 0; j < tail_multipliers_.size(); ++j) {
      const double multiplier = ascent_.multipliers()[j];
      tail_multipliers_[j] += multiplier;
      tail_squares_[j] += multiplier * multiplier;
    }
    if (options_.choice != IterateChoice::kTailAverage) return;
    learner_.AccumulateAverage(1.0);
    if (!result_.averaged_from) result_.averaged_from = steps_taken_;
  }

  void Finish() {
    result_.multipliers = ascent_.multipliers();
    result_.multiplier_spread.assign(result_.multipliers.size(), 0.0);
    for (std::size_t j = 0; j < tail_multipliers_.size() && tail_steps_ > 0; ++j) {
      const auto steps = static_cast<double>(tail_steps_);
      const double mean = tail_multipliers_[j] / steps;
      result_.multipliers[j] = mean;
      result_.multiplier_spread[j] =
          std::sqrt(std::max(0.0, tail_squares_[j] / steps - mean * mean));
    }
    if (best_state_ != nullptr) {
      learner_.Restore(*best_state_);
    } else if (tail_steps_ > 0) {
      learner_.UseAverage();
    }
    result_.rounds_kept = learner_.rounds_done();
    const Watch::Judgement kept_now = watch_.Judge();
    if (best_state_ == nullptr) {
      result_.steps_kept = steps_taken_;
      result_.merit = kept_now.merit;
    }
    if (tightened_) TightenLimits(kept_now.sums);
    const auto kept = static_cast<std::size_t>(result_.steps_kept);
    if (result_.step_costs.size() > kept) result_.step_costs.resize(kept);
    if (result_.step_multipliers.size() > kept) result_.step_multipliers.resize(kept);
    result_.history = std::move(watch_.history);
  }

  CrossFitLearner& learner_;
  RateProblem& unseen_;
  const RateProblem& training_;
  const RateTrainingOptions& options_;
  RoundSchedule schedule_;
  std::int64_t steps_;
  Watch watch_;
  ScaleFreeAscent ascent_;
  std::optional<detail::TightenedLimits> tightened_;     // once the warm-up is over
  std::vector<double> tail_multipliers_, tail_squares_;  // sums
  std::int64_t steps_taken_ = 0;
  std::int64_t tail_steps_ = 0;
  std::unique_ptr<ModelState> best_state_;
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
  detail::RequirePositive("loss_tau", options.loss_tau);
  detail::RequireNonNegative("margin", options.margin);
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

RateTrainingResult TrainOnRates(CrossFitLearner& learner, RateProblem& unseen,
                                const RateProblem& training, const RateTrainingOptions& options,
                                const SolveHooks& hooks) {
  Validate(options);
  return RateTraining(learner, unseen, training, options, hooks).Run();
}

RateTrainingResult TrainPlain(CrossFitLearner& learner, const RateProblem& unseen,
                              const RateTrainingOptions& options, const SolveHooks& hooks) {
  Validate(options);
  RoundSchedule schedule(learner, options);
  Watch watch(learner, schedule, unseen, options, hooks);
  PlainChoice choice(learner, options, schedule.steps());
  RateTrainingResult result;
  watch.Record(0, watch.Judge(), {});
  ProximalStep plain;
  plain.tau = kFarAway;
  plain.measured = false;
  std::int64_t steps = 0;
  while (steps < schedule.steps() && !watch.Interrupted(result)) {
    learner.Pause();
    schedule.Prepare(steps);
    const StepOutcome outcome = learner.Step(plain);
    const bool last = watch.Ends(outcome, result);
    if (!outcome.stalled.empty()) break;
    ++steps;
    choice.Consider(steps, /*last=*/false);
    watch.Record(steps, watch.Judge(), {});
    if (last) break;
    if (learner.solves_steps()) {
      result.reason = TerminationReason::kConverged;
      break;
    }
  }
  choice.Consider(steps, /*last=*/true);
  result.steps_kept = choice.Return(steps);
  result.rounds_kept = learner.rounds_done();
  result.multipliers.assign(unseen.num_limits(), 0.0);
  result.multiplier_spread = result.multipliers;
  result.merit = watch.Judge().merit;
  result.history = std::move(watch.history);
  return result;
}

}  // namespace bregboost
