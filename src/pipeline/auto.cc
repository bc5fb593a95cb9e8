#include "bregboost/pipeline/auto.h"

#include <algorithm>
#include <set>

#include "detail/option_checks.h"

namespace bregboost {
namespace {

// Two-sided 90%: what the rate of a small group may be off by chance alone.
constexpr double kSamplingQuantile = 1.64;

bool NamesGroups(const Constraint& constraint) {
  const auto is_group = [](const Column& column) { return !column.is_label; };
  return std::any_of(constraint.by.begin(), constraint.by.end(), is_group) ||
         std::any_of(constraint.expression.terms.begin(), constraint.expression.terms.end(),
                     [&](const Term& term) {
                       return std::any_of(
                           term.rate.where.begin(), term.rate.where.end(),
                           [&](const Condition& condition) { return is_group(condition.column); });
                     });
}

std::size_t NumberOfGroups(const CellTable& cells) {
  std::set<std::vector<std::int32_t>> groups;
  for (const Cell& cell : cells.cells) groups.insert(cell.groups);
  return groups.size();
}

// With more than two groups the smallest are mostly noise: what it explains is forgiven.
std::vector<std::vector<double>> ForgivenNoise(const RateProblem& problem) {
  std::vector<std::vector<double>> forgiven = problem.LargestSamplingErrors();
  const bool many_groups = NumberOfGroups(problem.compiled().cells) > 2;
  for (std::size_t c = 0; c < forgiven.size(); ++c) {
    const bool forgives = many_groups && NamesGroups(problem.constraints()[c]);
    for (double& error : forgiven[c]) error *= forgives ? kSamplingQuantile : 0.0;
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

TrainingPath PathFor(const RateProblem& problem, TrainingPath wanted) {
  if (problem.rows().task() == Task::kRegression) return TrainingPath::kConstrained;
  if (wanted != TrainingPath::kByConstraints) return wanted;
  return problem.names_groups() ? TrainingPath::kConstrained : TrainingPath::kCalibration;
}

}  // namespace

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
  detail::RequireNonNegative("rho", options.rho);
  AutoResult result;
  result.path = PathFor(unseen, options.path);
  RateTrainingOptions how = options.training;
  how.rho = options.rho;
  if (result.path == TrainingPath::kConstrained) {
    unseen.SetAllowances(ForgivenNoise(unseen));
    if (IsEqualisedOdds(unseen)) how.choice = IterateChoice::kTailAverage;
    result.training = TrainOnRates(learner, unseen, training, how, hooks);
  } else {
    unseen.SetAllowances({});
    result.training = TrainPlain(learner, unseen, how, hooks);
  }
  result.allowances = unseen.allowances();
  std::vector<double> sums;
  if (unseen.rows().task() == Task::kRegression) {
    sums = unseen.rates().ExactSums(learner.scores());
  } else {
    result.calibration =
        Calibrate(learner.scores(), unseen, {.rho = options.rho, .seed = options.seed});
    sums = result.calibration->sums;
  }
  unseen.SetAllowances({});
  result.objective = unseen.ObjectiveValue(sums);
  result.measurements = unseen.Measure(sums);
  result.total_violation = unseen.TotalViolation(sums);
  return result;
}

}  // namespace bregboost
