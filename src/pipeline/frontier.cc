#include "bregboost/pipeline/frontier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>

#include "detail/option_checks.h"
#include "pipeline/detail/fit_defaults.h"

namespace bregboost {
namespace {

// Trains for these constraints; scores of the unseen rows go to the observer after every step.
using FitWith =
    std::function<AutoFit(const std::vector<Constraint>&, const FitOptions&, const ScoreObserver&)>;

std::vector<Constraint> WithBound(std::vector<Constraint> constraints, std::size_t swept,
                                  double bound) {
  constraints[swept].bound = bound;
  return constraints;
}

// The best that one training offers for one bound.
struct Candidate {
  double merit = std::numeric_limits<double>::infinity();
  std::vector<double> scores;
  std::int64_t steps = 0;
};

class Sweep {
 public:
  Sweep(const std::vector<Constraint>& constraints, const FitOptions& options,
        const FrontierOptions& sweep, const FitWith& fit)
      : constraints_(constraints), options_(options), sweep_(sweep), fit_(fit) {
    if (sweep.constraint >= constraints.size()) {
      throw std::invalid_argument(fmt::format("constraint: {}; allowed: below their number, {}",
                                              sweep.constraint, constraints.size()));
    }
    if (sweep.bounds.empty()) {
      throw std::invalid_argument("bounds: none; allowed: one or more");
    }
    detail::RequireAtLeast<std::size_t>("trainings", sweep.trainings, 1);
    options_.certify = 0.0;
    options_.deploy = Deploy::kFoldMean;
  }

  Frontier Run() {
    result_.points.resize(sweep_.bounds.size());
    for (std::size_t p = 0; p < sweep_.bounds.size(); ++p) {
      result_.points[p].bound = sweep_.bounds[p];
      result_.points[p].objective = std::numeric_limits<double>::quiet_NaN();
    }
    best_merit_.assign(sweep_.bounds.size(), std::numeric_limits<double>::infinity());
    for (const double bound : TrainedBounds()) {
      const bool needs_training = Train(bound);
      ++result_.trainings;
      if (!needs_training) break;  // every other training would be the same
    }
    MarkDominated();
    return std::move(result_);
  }

 private:
  // Spread over the bounds from loosest to tightest, each in the middle of its share of them.
  std::vector<double> TrainedBounds() const {
    std::vector<double> sorted = sweep_.bounds;
    const bool at_most = constraints_[sweep_.constraint].relation == Relation::kAtMost;
    std::sort(sorted.begin(), sorted.end());
    if (at_most) std::reverse(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    const std::size_t count = std::min(sweep_.trainings, sorted.size());
    std::vector<double> chosen;
    for (std::size_t t = 0; t < count; ++t) {
      chosen.push_back(sorted[(2 * t + 1) * sorted.size() / (2 * count)]);
    }
    return chosen;
  }

  bool Train(double bound) {
    // Problems are made when the unseen rows are known, at the first look.
    std::vector<RateProblem> problems;
    std::vector<Candidate> candidates(sweep_.bounds.size());
    std::int64_t steps = 0;
    const auto look = [&](std::span<const double> scores, const RateProblem& unseen) {
      if (problems.empty()) problems = ProblemsFor(unseen.rows());
      const std::vector<double> sums = problems.front().rates().ExactSums(scores);
      for (std::size_t p = 0; p < problems.size(); ++p) {
        problems[p].SetAllowances(unseen.allowances());
        const double merit = problems[p].Merit(sums, options_.solver.rho);
        if (merit < candidates[p].merit) {
          candidates[p] = {
              .merit = merit, .scores = {scores.begin(), scores.end()}, .steps = steps};
        }
      }
      ++steps;
    };
    FitOptions options = options_;
    options.solver.training.initial_multipliers = multipliers_;
    const AutoFit fit = fit_(WithBound(constraints_, sweep_.constraint, bound), options, look);
    const AutoResult& trained = fit.report().unseen;
    multipliers_ = trained.training.multipliers;
    const bool needs_training = trained.path == TrainingPath::kConstrained;
    const RowData& rows = fit.unseen_rows();
    if (problems.empty()) problems = ProblemsFor(rows);
    std::optional<Calibrator> last;
    if (trained.calibration) last.emplace(fit.UnseenScores(), rows);
    for (std::size_t p = 0; p < problems.size(); ++p) {
      problems[p].SetAllowances(trained.allowances);
      if (last) Offer(p, problems[p], last->Solve(problems[p], Offsets()), bound, steps);
      const bool has_own = needs_training && !candidates[p].scores.empty();
      if (!has_own) continue;
      if (!trained.calibration) {
        OfferScores(p, problems[p], candidates[p], bound);
        continue;
      }
      problems[p].SetAllowances(trained.allowances);  // a point that was set measures without
      const Calibrator own(candidates[p].scores, rows);
      Offer(p, problems[p], own.Solve(problems[p], Offsets()), bound, candidates[p].steps);
    }
    return needs_training;
  }

  std::vector<RateProblem> ProblemsFor(const RowData& rows) const {
    std::vector<RateProblem> problems;
    const Task task = rows.task();
    for (const double bound : sweep_.bounds) {
      problems.emplace_back(WithBound(constraints_, sweep_.constraint, bound),
                            detail::ObjectiveOf(options_, task), rows,
                            detail::LossOf(options_, task));
    }
    return problems;
  }

  CalibrationOptions Offsets() const { return {.rho = options_.solver.rho, .seed = options_.seed}; }

  void Offer(std::size_t p, RateProblem& problem, const Calibration& calibration,
             double trained_for, std::int64_t steps) {
    if (!(calibration.merit < best_merit_[p])) return;
    best_merit_[p] = calibration.merit;
    Set(p, problem, calibration.sums, calibration.adjustment, trained_for, steps);
  }

  void OfferScores(std::size_t p, RateProblem& problem, const Candidate& candidate,
                   double trained_for) {
    if (!(candidate.merit < best_merit_[p])) return;
    best_merit_[p] = candidate.merit;
    Set(p, problem, problem.rates().ExactSums(candidate.scores), {}, trained_for, candidate.steps);
  }

  void Set(std::size_t p, RateProblem& problem, std::span<const double> sums,
           const ModelAdjustment& adjustment, double trained_for, std::int64_t steps) {
    problem.SetAllowances({});
    FrontierPoint& point = result_.points[p];
    point.objective = problem.ObjectiveValue(sums);
    point.measurements = problem.Measure(sums);
    point.total_violation = problem.TotalViolation(sums);
    point.adjustment = adjustment;
    point.trained_for = trained_for;
    point.steps = steps;
    costs_.resize(result_.points.size());
    costs_[p] = problem.Cost(sums);
  }

  void MarkDominated() {
    const bool at_most = constraints_[sweep_.constraint].relation == Relation::kAtMost;
    for (std::size_t p = 0; p < result_.points.size(); ++p) {
      FrontierPoint& point = result_.points[p];
      point.dominated = point.total_violation > 0.0;
      for (std::size_t q = 0; q < result_.points.size() && !point.dominated; ++q) {
        const FrontierPoint& other = result_.points[q];
        if (q == p || other.total_violation > 0.0) continue;
        const bool tighter = at_most ? other.bound <= point.bound : other.bound >= point.bound;
        const bool alike = other.bound == point.bound && costs_[q] == costs_[p];
        point.dominated = tighter && costs_[q] <= costs_[p] && !(alike && p < q);
      }
    }
  }

  const std::vector<Constraint>& constraints_;
  FitOptions options_;
  const FrontierOptions& sweep_;
  const FitWith& fit_;
  std::vector<double> multipliers_;  // of the last training
  std::vector<double> best_merit_, costs_;
  Frontier result_;
};

}  // namespace

Frontier SweepLightGbm(const LightGbmDataset& data, const RowData& rows,
                       const std::vector<Constraint>& constraints, const BoostedOptions& boosting,
                       const FitOptions& options, const FrontierOptions& sweep,
                       const SolveHooks& hooks) {
  const FitWith fit = [&](const std::vector<Constraint>& limits, const FitOptions& how,
                          const ScoreObserver& observer) {
    return AutoFit::LightGbm(data, rows, limits, boosting, how, hooks, observer);
  };
  return Sweep(constraints, options, sweep, fit).Run();
}

Frontier SweepXgboost(const XgboostDataset& data, const RowData& rows,
                      const std::vector<Constraint>& constraints, const BoostedOptions& boosting,
                      const FitOptions& options, const FrontierOptions& sweep,
                      const SolveHooks& hooks) {
  const FitWith fit = [&](const std::vector<Constraint>& limits, const FitOptions& how,
                          const ScoreObserver& observer) {
    return AutoFit::Xgboost(data, rows, limits, boosting, how, hooks, observer);
  };
  return Sweep(constraints, options, sweep, fit).Run();
}

Frontier SweepLinear(const FeatureMatrix& features, const RowData& rows,
                     const std::vector<Constraint>& constraints, const LinearOptions& linear,
                     const FitOptions& options, const FrontierOptions& sweep,
                     const SolveHooks& hooks) {
  const FitWith fit = [&](const std::vector<Constraint>& limits, const FitOptions& how,
                          const ScoreObserver& observer) {
    return AutoFit::Linear(features, rows, limits, linear, how, hooks, observer);
  };
  return Sweep(constraints, options, sweep, fit).Run();
}

}  // namespace bregboost
