#include "bregboost/pipeline/auto.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bregboost/calibrate/gathered_problem.h"
#include "bregboost/calibrate/temperature.h"
#include "bregboost/calibrate/threshold_merit.h"
#include "detail/option_checks.h"
#include "detail/stop_watch.h"
#include "pipeline/detail/row_outcomes.h"

namespace bregboost {
namespace {

// Two-sided 90%: what the rate of a small group may be off by chance alone.
constexpr double kSamplingQuantile = 1.64;

// Of the columns that the constraint itself names.
std::size_t NumberOfGroups(const Constraint& constraint, const CellTable& cells) {
  std::set<std::string> names;
  for (const Column& column : constraint.by) names.insert(column.name);
  for (const Term& term : constraint.expression.terms) {
    for (const Condition& condition : term.rate.where) names.insert(condition.column.name);
  }
  std::set<std::vector<std::int32_t>> groups;
  for (const Cell& cell : cells.cells) {
    std::vector<std::int32_t> tuple;
    for (std::size_t c = 0; c < cells.group_columns.size(); ++c) {
      if (names.contains(cells.group_columns[c])) tuple.push_back(cell.groups[c]);
    }
    groups.insert(std::move(tuple));
  }
  return groups.size();
}

// How often the event of a rate is to be expected: half of the time, but a class is selected as
// often as it is there.
double ExpectedRate(const RateProblem& problem, const MeasuredRate& measured) {
  const CompiledConstraints& compiled = problem.compiled();
  const Slot& slot = compiled.slots[measured.value.entries.front().first % compiled.slots.size()];
  if (slot.kind != SlotKind::kSelected) return 0.5;
  double of_class = 0.0, all = 0.0;
  for (const Cell& cell : compiled.cells.cells) {
    all += cell.rate_weight;
    if (cell.label == slot.class_code) of_class += cell.rate_weight;
  }
  return of_class / all;
}

// True if a group has rows enough to be compared with others: one standard error of its rate, which
// is at most `largest_error`, is within what the bound of a gap leaves, one of its ratio to another
// within what that of a ratio does.
bool CanBeCompared(const RateProblem& problem, std::size_t constraint, std::size_t rate,
                   double largest_error) {
  const CompiledConstraint& compiled = problem.compiled().constraints[constraint];
  const double bound = compiled.source.bound;
  if (compiled.source.aggregate == Aggregate::kGap) return largest_error <= bound;
  if (compiled.source.aggregate != Aggregate::kRatio) return false;
  const double expected = ExpectedRate(problem, compiled.rates[rate]);
  const double events = expected * problem.RowsOfRate(constraint, rate);
  return events > 0.0 && std::sqrt((1.0 - expected) / events) <= 1.0 - bound;
}

// With more than two groups the smallest are mostly noise: what it explains is forgiven.
std::vector<std::vector<double>> ForgivenNoise(const RateProblem& problem) {
  std::vector<std::vector<double>> forgiven = problem.LargestSamplingErrors();
  for (std::size_t c = 0; c < forgiven.size(); ++c) {
    const Constraint& constraint = problem.constraints()[c];
    const bool forgives =
        NamesGroups(constraint) && NumberOfGroups(constraint, problem.compiled().cells) > 2;
    for (std::size_t r = 0; r < forgiven[c].size(); ++r) {
      double& error = forgiven[c][r];
      error *= forgives && !CanBeCompared(problem, c, r, error) ? kSamplingQuantile : 0.0;
    }
  }
  return forgiven;
}

// Error rates of both labels, group by group: the average of iterates is steadier there.
bool IsEqualisedOdds(const RateProblem& problem) {
  std::set<RateKind> kinds;
  for (const Constraint& constraint : problem.constraints()) {
    if (constraint.aggregate != Aggregate::kGap || !NamesGroups(constraint)) continue;
    for (const Term& term : constraint.expression.terms) {
      switch (term.rate.kind) {
        case RateKind::kFnr:
        case RateKind::kTpr:
        case RateKind::kRecall:
          kinds.insert(RateKind::kFnr);
          break;
        case RateKind::kFpr:
        case RateKind::kTnr:
          kinds.insert(RateKind::kFpr);
          break;
        default:
          break;
      }
    }
  }
  return kinds.size() == 2;
}

// How far limit `r` of a constraint moves when its bound does: 1 but for what is multiplied out.
double MovesWithBound(const RateProblem& problem, const CompiledConstraint& constraint,
                      std::size_t r, std::span<const double> sums) {
  const std::size_t groups = constraint.rates.size();
  if (constraint.source.aggregate == Aggregate::kRatio) {
    return constraint.rates[r / (groups - 1)].value.Dot(sums);  // the larger rate of the pair
  }
  if (r >= groups || constraint.rates[r].denominator.entries.empty()) return 1.0;
  const std::size_t slots = problem.compiled().slots.size();
  double weight = 0.0;
  for (const auto& [column, coefficient] : constraint.rates[r].denominator.entries) {
    weight += problem.compiled().cells.cells[column / slots].rate_weight;
  }
  return weight > 0.0 ? constraint.rates[r].denominator.Dot(sums) / weight : 0.0;
}

std::vector<Price> PricesFromTraining(const RateProblem& problem, std::span<const double> sums,
                                      const AutoResult& result) {
  std::vector<Price> prices;
  for (std::size_t c = 0; c < problem.num_constraints(); ++c) {
    const CompiledConstraint& constraint = problem.compiled().constraints[c];
    const Measurement& measured = result.measurements[c];
    Price price{.text = measured.text};
    if (!measured.satisfied) {
      price.price = std::isnan(measured.value) ? 0.0 : result.rho;
      price.binding = price.price > 0.0;
      prices.push_back(price);
      continue;
    }
    double variance = 0.0;
    for (std::size_t r = 0; r < constraint.num_rows; ++r) {
      const std::size_t j = constraint.first_row + r;
      const double moves = MovesWithBound(problem, constraint, r, sums);
      price.price += moves * result.training.multipliers[j];
      variance += std::pow(moves * result.training.multiplier_spread[j], 2.0);
    }
    price.standard_error = std::sqrt(variance);
    price.binding = price.price > price.standard_error;
    prices.push_back(price);
  }
  return prices;
}

// A ratio of rates that hardly any row makes can be anything on other rows.
void NoteUncertainRatios(const RateProblem& problem, AutoResult& result) {
  for (std::size_t c = 0; c < result.measurements.size(); ++c) {
    const Constraint& constraint = problem.constraints()[c];
    const Measurement& measured = result.measurements[c];
    if (constraint.aggregate != Aggregate::kRatio || std::isnan(measured.value)) continue;
    std::vector<SampledRate> rates;
    for (std::size_t r = 0; r < measured.groups.size(); ++r) {
      rates.push_back({.value = measured.groups[r].second, .rows = problem.RowsOfRate(c, r)});
    }
    const auto [low, high] = std::ranges::minmax(rates, {}, &SampledRate::value);
    const double error = RatioError(low, high);
    if (error <= 1.0 - constraint.bound) continue;
    result.notes.push_back(fmt::format(
        "'{}' compares rates of {:.2g}% and {:.2g}%, and so few rows show no ratio: its standard "
        "error is {:.0f} points",
        ToText(constraint), 100.0 * low.value, 100.0 * high.value, 100.0 * error));
  }
}

// What the user should know about bounds that were not taken as given.
void NoteForgiveness(const RateProblem& problem, AutoResult& result) {
  for (std::size_t c = 0; c < result.allowances.size(); ++c) {
    const std::vector<double>& granted = result.allowances[c];
    const double most = granted.empty() ? 0.0 : *std::max_element(granted.begin(), granted.end());
    if (most <= 0.0) continue;
    result.notes.push_back(fmt::format(
        "'{}' compares more than two groups: while training, up to {:.1f} points of a group's rate "
        "were put down to its few rows; what is measured is against the bound as given",
        ToText(problem.constraints()[c]), 100.0 * most));
  }
}

}  // namespace

TrainingPath ChoosePath(const RateProblem& problem, TrainingPath wanted) {
  if (problem.num_limits() == 0) return TrainingPath::kCalibration;
  if (wanted != TrainingPath::kByConstraints) return wanted;
  if (problem.rows().task() == Task::kRegression) return TrainingPath::kConstrained;
  return problem.names_groups() ? TrainingPath::kConstrained : TrainingPath::kCalibration;
}

std::string_view Name(TrainingPath path) {
  switch (path) {
    case TrainingPath::kByConstraints:
      return "by_constraints";
    case TrainingPath::kCalibration:
      return "calibration";
    case TrainingPath::kConstrained:
      return "constrained";
  }
  return "";
}

AutoResult SolveAuto(CrossFitLearner& learner, RateProblem& unseen, const RateProblem& training,
                     const AutoOptions& options, const SolveHooks& hooks) {
  if (options.rho) detail::RequireNonNegative("rho", *options.rho);
  AutoResult result;
  detail::StopWatch clock;
  unseen.SetCaution(options.training.margin);
  result.path = ChoosePath(unseen, options.path);
  RateTrainingOptions how = options.training;
  how.rho = result.rho = options.rho.value_or(DefaultRho(unseen));
  if (result.path == TrainingPath::kConstrained) {
    unseen.SetAllowances(ForgivenNoise(unseen));
    if (IsEqualisedOdds(unseen)) how.choice = IterateChoice::kTailAverage;
    if (unseen.rows().task() == Task::kBinary) {
      // An iterate that breaks its limits by little may need a threshold that costs much, and the
      // other way round.
      how.judge = [&](std::span<const double> scores) {
        return MeritOfBestThreshold(scores, unseen, how.rho);
      };
    }
    result.training = TrainOnRates(learner, unseen, training, how, hooks);
  } else {
    unseen.SetAllowances({});
    const bool chooses_rounds = !options.all_rounds && unseen.num_limits() > 0;
    if (chooses_rounds && unseen.rows().task() != Task::kRegression) {
      how.judge = [&](std::span<const double> scores) {
        return RefinementLoss(scores, unseen.rows());
      };
    }
    result.training = TrainPlain(learner, unseen, how, hooks);
  }
  result.allowances = unseen.allowances();
  result.training_seconds = clock.Lap();
  std::vector<double> sums;
  if (unseen.rows().task() == Task::kRegression) {
    sums = unseen.rates().ExactSums(learner.scores());
  } else {
    const CalibrationOptions how_offsets{.rho = options.rho, .seed = options.seed};
    const GatheredProblem gathered(learner.scores(), unseen);
    const Calibrator calibrator(gathered.scores(), gathered.rows());
    result.calibration = calibrator.Solve(gathered.problem(), how_offsets);
    result.rho = result.calibration->rho;
    // Losses, too, are those of the model that is deployed, offsets included.
    sums = unseen.rates().ExactSums(detail::AdjustedScores(
        learner.scores(), unseen.rows().num_rows(), result.calibration->adjustment));
    if (result.path == TrainingPath::kCalibration) {
      result.prices = FindPrices(calibrator, gathered.problem(), *result.calibration);
    }
  }
  result.measurements = unseen.Measure(sums);
  if (result.path == TrainingPath::kConstrained) {
    result.prices = PricesFromTraining(unseen, sums, result);
  }
  for (const SubsetSize& size : MeasureSubsets(unseen)) {
    if (size.too_small) result.too_small.push_back(size);
  }
  result.calibration_seconds = clock.Lap();
  NoteForgiveness(unseen, result);
  NoteUncertainRatios(unseen, result);
  if (result.path == TrainingPath::kConstrained && !training.rows().rate_weights.empty() &&
      training.rows().task() != Task::kRegression) {
    result.notes.emplace_back(
        "limits that compare groups train on the rates, so rows count by their rate weights there; "
        "the weights of the loss had no part in it");
  }
  unseen.SetAllowances({});
  unseen.SetCaution(0.0);
  result.objective = unseen.ObjectiveValue(sums);
  result.total_violation = unseen.TotalViolation(sums);
  return result;
}

}  // namespace bregboost
