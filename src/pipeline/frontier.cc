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
#include "solve/detail/tightened_limits.h"

namespace bregboost {
namespace {

// Of points that are alike the first stays.
bool Dominates(std::span<const PointValue> points, std::size_t q, std::size_t p, bool sweeps_rho) {
  const PointValue &better = points[q], &point = points[p];
  if (!(better.cost <= point.cost)) return false;
  const bool same_cost = better.cost == point.cost;
  if (sweeps_rho) {
    const bool alike = same_cost && better.violation == point.violation;
    return better.violation <= point.violation && !(alike && p < q);
  }
  const bool alike = same_cost && better.tightness == point.tightness;
  return better.violation == 0.0 && better.tightness >= point.tightness && !(alike && p < q);
}

// Trains for these constraints; scores of the unseen rows go to the observer after every step.
using FitWith =
    std::function<AutoFit(const std::vector<Constraint>&, const FitOptions&, const ScoreObserver&)>;

// What one point asks for.
struct Setting {
  std::vector<Constraint> constraints;
  std::optional<double> rho;
  double swept = 0.0;      // the bound, or rho
  double tightness = 0.0;  // larger where the limits matter more
};

std::vector<Setting> SettingsOf(const std::vector<Constraint>& constraints,
                                const FitOptions& options, const FrontierOptions& sweep) {
  if (sweep.bounds.empty() == sweep.rhos.empty()) {
    throw std::invalid_argument(fmt::format("bounds, rhos: {} and {} values; allowed: one of them",
                                            sweep.bounds.size(), sweep.rhos.size()));
  }
  if (sweep.constraint >= constraints.size()) {
    throw std::invalid_argument(fmt::format("constraint: {}; allowed: below their number, {}",
                                            sweep.constraint, constraints.size()));
  }
  std::vector<Setting> settings;
  const bool at_most = constraints[sweep.constraint].relation == Relation::kAtMost;
  for (const double bound : sweep.bounds) {
    settings.push_back({.constraints = constraints,
                        .rho = options.solver.rho,
                        .swept = bound,
                        .tightness = at_most ? -bound : bound});
    settings.back().constraints[sweep.constraint].bound = bound;
  }
  for (const double rho : sweep.rhos) {
    detail::RequireNonNegative("rhos", rho);
    settings.push_back({.constraints = constraints, .rho = rho, .swept = rho, .tightness = rho});
  }
  return settings;
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
      : settings_(SettingsOf(constraints, options, sweep)),
        sweep_(sweep),
        options_(options),
        fit_(fit) {
    detail::RequireAtLeast<std::size_t>("trainings", sweep.trainings, 1);
    options_.certify = 0.0;
    options_.deploy = Deploy::kFoldMean;
  }

  Frontier Run() {
    result_.constraint = sweep_.constraint;
    result_.sweeps_rho = sweep_.bounds.empty();
    result_.points.resize(settings_.size());
    costs_.resize(settings_.size());
    best_merit_.assign(settings_.size(), std::numeric_limits<double>::infinity());
    for (std::size_t p = 0; p < settings_.size(); ++p) {
      result_.points[p].bound = settings_[p].constraints[sweep_.constraint].bound;
      result_.points[p].rho = settings_[p].rho.value_or(std::numeric_limits<double>::quiet_NaN());
      result_.points[p].objective = std::numeric_limits<double>::quiet_NaN();
    }
    for (const Setting* setting : TrainedSettings()) {
      const bool needs_training = Train(*setting);
      ++result_.trainings;
      if (!needs_training) break;  // every other training would be the same
    }
    MarkDominated();
    return std::move(result_);
  }

 private:
  // Spread over the settings from loosest to tightest, each in the middle of its share of them.
  std::vector<const Setting*> TrainedSettings() const {
    std::vector<const Setting*> sorted;
    for (const Setting& setting : settings_) sorted.push_back(&setting);
    std::stable_sort(sorted.begin(), sorted.end(), [](const Setting* a, const Setting* b) {
      return a->tightness < b->tightness;
    });
    sorted.erase(
        std::unique(sorted.begin(), sorted.end(),
                    [](const Setting* a, const Setting* b) { return a->swept == b->swept; }),
        sorted.end());
    const std::size_t count = std::min(sweep_.trainings, sorted.size());
    std::vector<const Setting*> chosen;
    for (std::size_t t = 0; t < count; ++t) {
      chosen.push_back(sorted[(2 * t + 1) * sorted.size() / (2 * count)]);
    }
    return chosen;
  }

  bool Train(const Setting& trained_for) {
    // Problems are made when the unseen rows are known, at the first look.
    std::vector<RateProblem> problems;
    std::vector<Candidate> candidates(settings_.size());
    std::int64_t steps = 0;
    const auto look = [&](std::span<const double> scores, const RateProblem& unseen) {
      if (problems.empty()) problems = ProblemsFor(unseen.rows());
      const std::vector<double> sums = problems.front().rates().ExactSums(scores);
      for (std::size_t p = 0; p < problems.size(); ++p) {
        problems[p].SetAllowances(detail::WithinRoom(problems[p], sums, unseen.allowances()));
        problems[p].SetCaution(unseen.caution());
        const double merit = problems[p].Merit(sums, RhoOf(p, problems[p]));
        if (merit < candidates[p].merit) {
          candidates[p] = {
              .merit = merit, .scores = {scores.begin(), scores.end()}, .steps = steps};
        }
      }
      ++steps;
    };
    FitOptions options = options_;
    options.solver.rho = trained_for.rho;
    options.solver.training.initial_multipliers = multipliers_;
    const AutoFit fit = fit_(trained_for.constraints, options, look);
    const AutoResult& trained = fit.report().unseen;
    multipliers_ = trained.training.multipliers;
    const bool needs_training = trained.path == TrainingPath::kConstrained;
    const RowData& rows = fit.unseen_rows();
    if (problems.empty()) problems = ProblemsFor(rows);
    std::optional<Calibrator> last;
    if (trained.calibration) last.emplace(fit.UnseenScores(), rows);
    const std::vector<double> sums = problems.front().rates().ExactSums(fit.UnseenScores());
    for (std::size_t p = 0; p < problems.size(); ++p) {
      const std::vector<std::vector<double>> allowances =
          detail::WithinRoom(problems[p], sums, trained.allowances);
      problems[p].SetAllowances(allowances);
      problems[p].SetCaution(options_.solver.training.margin);
      if (last) {
        Offer(p, problems[p], *last, trained_for.swept, trained.training.steps_kept,
              /*priced=*/!needs_training);
      }
      const bool has_own = needs_training && !candidates[p].scores.empty();
      if (!has_own) continue;
      if (!trained.calibration) {
        OfferScores(p, problems[p], candidates[p], trained_for.swept);
        continue;
      }
      problems[p].SetAllowances(allowances);  // a point that was set measures without
      problems[p].SetCaution(options_.solver.training.margin);
      const Calibrator own(candidates[p].scores, rows);
      Offer(p, problems[p], own, trained_for.swept, candidates[p].steps, /*priced=*/false);
    }
    return needs_training;
  }

  std::vector<RateProblem> ProblemsFor(const RowData& rows) const {
    std::vector<RateProblem> problems;
    const Task task = rows.task();
    for (const Setting& setting : settings_) {
      problems.emplace_back(setting.constraints, detail::ObjectiveOf(options_, task), rows,
                            detail::LossOf(options_.loss, task));
    }
    return problems;
  }

  double RhoOf(std::size_t p, const RateProblem& problem) const {
    return settings_[p].rho.value_or(DefaultRho(problem));
  }

  void Offer(std::size_t p, RateProblem& problem, const Calibrator& calibrator, double trained_for,
             std::int64_t steps, bool priced) {
    const Calibration calibration =
        calibrator.Solve(problem, {.rho = settings_[p].rho, .seed = options_.seed});
    if (!(calibration.merit < best_merit_[p])) return;
    best_merit_[p] = calibration.merit;
    result_.points[p].rho = calibration.rho;
    if (priced) result_.points[p].prices = FindPrices(calibrator, problem, calibration);
    Set(p, problem, calibration.sums, calibration.adjustment, trained_for, steps);
  }

  void OfferScores(std::size_t p, RateProblem& problem, const Candidate& candidate,
                   double trained_for) {
    if (!(candidate.merit < best_merit_[p])) return;
    best_merit_[p] = candidate.merit;
    result_.points[p].rho = RhoOf(p, problem);
    Set(p, problem, problem.rates().ExactSums(candidate.scores), {}, trained_for, candidate.steps);
  }

  void Set(std::size_t p, RateProblem& problem, std::span<const double> sums,
           const ModelAdjustment& adjustment, double trained_for, std::int64_t steps) {
    problem.SetAllowances({});
    problem.SetCaution(0.0);
    FrontierPoint& point = result_.points[p];
    point.objective = problem.ObjectiveValue(sums);
    point.measurements = problem.Measure(sums);
    point.rates =
        FindRateIntervals(problem.compiled(), problem.num_constraints(), problem.rows(), sums);
    point.total_violation = problem.TotalViolation(sums);
    point.adjustment = adjustment;
    point.trained_for = trained_for;
    point.steps = steps;
    costs_[p] = problem.Cost(sums);
  }

  void MarkDominated() {
    std::vector<PointValue> values;
    for (std::size_t p = 0; p < result_.points.size(); ++p) {
      values.push_back({.cost = costs_[p],
                        .violation = result_.points[p].total_violation,
                        .tightness = settings_[p].tightness});
    }
    const std::vector<bool> dominated = FindDominated(values, result_.sweeps_rho);
    for (std::size_t p = 0; p < values.size(); ++p) result_.points[p].dominated = dominated[p];
  }

  std::vector<Setting> settings_;
  const FrontierOptions& sweep_;
  FitOptions options_;
  const FitWith& fit_;
  std::vector<double> multipliers_;  // of the last training
  std::vector<double> best_merit_, costs_;
  Frontier result_;
};

// Points are estimates.
template <class Features>
FitData<Features> Uncertified(const FitData<Features>& data) {
  return {.training = data.training, .evaluation = data.evaluation};
}

}  // namespace

std::vector<bool> FindDominated(std::span<const PointValue> points, bool sweeps_rho) {
  std::vector<bool> dominated(points.size());
  for (std::size_t p = 0; p < points.size(); ++p) {
    dominated[p] = !sweeps_rho && points[p].violation > 0.0;
    for (std::size_t q = 0; q < points.size() && !dominated[p]; ++q) {
      dominated[p] = q != p && Dominates(points, q, p, sweeps_rho);
    }
  }
  return dominated;
}

Frontier SweepLightGbm(const FitData<LightGbmDataset>& data,
                       const std::vector<Constraint>& constraints, const BoostedOptions& boosting,
                       const FitOptions& options, const FrontierOptions& sweep,
                       const SolveHooks& hooks) {
  const FitWith fit = [&](const std::vector<Constraint>& limits, const FitOptions& how,
                          const ScoreObserver& observer) {
    return AutoFit::LightGbm(Uncertified(data), limits, boosting, how, hooks, observer);
  };
  return Sweep(constraints, options, sweep, fit).Run();
}

Frontier SweepXgboost(const FitData<XgboostDataset>& data,
                      const std::vector<Constraint>& constraints, const BoostedOptions& boosting,
                      const FitOptions& options, const FrontierOptions& sweep,
                      const SolveHooks& hooks) {
  const FitWith fit = [&](const std::vector<Constraint>& limits, const FitOptions& how,
                          const ScoreObserver& observer) {
    return AutoFit::Xgboost(Uncertified(data), limits, boosting, how, hooks, observer);
  };
  return Sweep(constraints, options, sweep, fit).Run();
}

Frontier SweepLinear(const FitData<FeatureMatrix>& data, const std::vector<Constraint>& constraints,
                     const LinearOptions& linear, const FitOptions& options,
                     const FrontierOptions& sweep, const SolveHooks& hooks) {
  const FitWith fit = [&](const std::vector<Constraint>& limits, const FitOptions& how,
                          const ScoreObserver& observer) {
    return AutoFit::Linear(Uncertified(data), limits, linear, how, hooks, observer);
  };
  return Sweep(constraints, options, sweep, fit).Run();
}

}  // namespace bregboost
