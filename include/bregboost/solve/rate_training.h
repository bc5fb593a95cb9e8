// Training under limits on the exact rates of unseen rows (solver "auto", group rates):
//
//   lambda moves on the unseen rows' 0-1 rates by ScaleFreeAscent;
//   the model takes a proximal step on the training rows, each of which is pulled towards the
//   classes that cost + <lambda, g> charges least for its cell (a negative weight is a flipped
//   label).
//
// The last iterates swing around the limits, so the one with the best merit on unseen rows, or the
// average of the later ones, is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bregboost/learners/cross_fit.h"
#include "bregboost/problem/rate_problem.h"
#include "bregboost/solve/abpp.h"
#include "bregboost/solve/iteration_stats.h"
#include "bregboost/solve/termination.h"

namespace bregboost {

enum class IterateChoice {
  kBest,         // by merit on the unseen rows
  kTailAverage,  // the mean of the later half, as one model
};
std::string_view Name(IterateChoice choice);

struct RateTrainingOptions {
  double rho = 5.0;        // merit = cost + rho * violations, and the ceiling of multipliers; >= 0
  double dual_rate = 0.5;  // c of ScaleFreeAscent; > 0
  double tau = 100.0;      // of proximal steps on costs, rows weighing 1 on average; > 0
  double loss_tau = 20.0;  // the same on losses of a numeric target; > 0
  double warm_up = 0.1;    // the share of the rounds without limits; in [0, 1)
  double choose_from = 0.25;  // iterates count from this share of the rounds on; in [0, 1)
  // Limits are fitted to bound - margin * (standard error of the rate), errors being those of the
  // rates at the end of the warm-up; limits whose sampling error is forgiven have no margin. Ratios
  // have one of their own beside it, at each decision (RateProblem::SetCaution). >= 0
  double margin = 0.5;
  // The learner's models, if it has several, are deployed as their mean: what its rates differ by
  // from those of single models counts in the margin, which is never below 0 nor above half of
  // what the limit leaves. False: a single one is (a refit).
  bool deploys_mean = true;
  IterateChoice choice = IterateChoice::kBest;
  std::int64_t rounds = 0;  // of boosting; 0: what the learner's parameters ask for
  std::vector<double> initial_multipliers = {};  // one per limit; empty: 0
  // What scores of the unseen rows will be worth once they are calibrated, less being better; none:
  // the merit that they have as they are. The best iterate is the best by it.
  std::function<double(std::span<const double> scores)> judge = nullptr;
};
void Validate(const RateTrainingOptions& options);

struct RateTrainingResult {
  // One per limit: mean and standard deviation over the later half of the steps.
  std::vector<double> multipliers;
  std::vector<double> multiplier_spread;
  // What every step charged, costs[cell * K + k] of the training rows' cells, up to the iterate
  // that was kept: a second learner that takes these steps on other rows makes the same kind of
  // model. Empty for numeric targets, where step_multipliers says the same.
  std::vector<std::vector<double>> step_costs;
  std::vector<std::vector<double>> step_multipliers;
  std::int64_t steps_kept = 0;   // of the best iterate; all for an average
  double tau = 0.0;              // of all steps
  std::int64_t rounds_kept = 0;  // of the learner, which early stopping may end within a step
  // kTailAverage: iterates count in the mean from this one on, the first step's being 1.
  std::optional<std::int64_t> averaged_from;
  double merit = 0.0;  // of what was kept, on unseen rows: the judge's if TrainOnRates has one
  std::vector<IterationStats> history;
  TerminationReason reason = TerminationReason::kIterationLimit;
  std::string detail;
};

// `unseen` and `training` are the problems whose rates() are the learner's; the learner ends at
// what was kept. Multipliers move on the limits of `unseen`, allowances included, and the margin is
// added to those.
RateTrainingResult TrainOnRates(CrossFitLearner& learner, RateProblem& unseen,
                                const RateProblem& training, const RateTrainingOptions& options,
                                const SolveHooks& hooks = {});

// The learner's own training, without limits; rates are only looked at. All of `options` but the
// number of rounds, rho and the judge are left alone. The judge is asked every tenth of the rounds,
// and the best of these iterates is kept; without one, or if the learner stops early by itself,
// what the learner's own training ends with.
RateTrainingResult TrainPlain(CrossFitLearner& learner, const RateProblem& unseen,
                              const RateTrainingOptions& options, const SolveHooks& hooks = {});

// What a row of each cell is pulled to: the largest charge of the cell minus the charge of k, all
// scaled so that rows weigh 1 on average.
std::vector<double> PullsFromCharges(const CellTable& cells, std::span<const double> charges,
                                     std::size_t num_classes);

}  // namespace bregboost
