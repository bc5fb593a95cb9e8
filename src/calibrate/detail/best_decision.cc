#include "calibrate/detail/best_decision.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <stdexcept>

#include "calibrate/detail/decision_sums.h"
#include "calibrate/detail/dual_steps.h"
#include "calibrate/detail/offset_rows.h"
#include "calibrate/detail/offset_search.h"
#include "calibrate/detail/three_classes.h"
#include "calibrate/detail/threshold_sweep.h"

namespace bregboost::detail {
namespace {

BestDecision FindThreshold(const BoundScores& bound, const RateProblem& problem,
                           const DecisionSums& sums, MeritTracker& tracker, double temperature) {
  const ThresholdRows rows(problem, bound, temperature);
  const BestThreshold best = FindBestThreshold(rows, sums, tracker);
  return {.offsets = {-rows.Threshold(best.first)},
          .sums = sums.Of(rows.Predicted(best.first, problem.compiled().cells.cells.size())),
          .multipliers = {},
          .exact = true,
          .evaluations = best.evaluations};
}

BestDecision FindOffsets(const OffsetRows& rows, const RateProblem& problem, const Goal& goal,
                         const DecisionSums& sums, MeritTracker& tracker, std::uint64_t seed,
                         const SearchHints& hints) {
  OffsetJudge judge(rows, sums, tracker);
  BestDecision result;
  std::vector<std::vector<double>> starts = PriorStarts(problem.rows());
  starts.insert(starts.begin(), hints.starts.begin(), hints.starts.end());
  if (goal.kind == Goal::Kind::kMerit && problem.num_limits() > 0 &&
      ChargesClassErrorsOnly(problem)) {
    DualResult dual = TakeDualSteps(problem, goal.rho, judge);
    result.multipliers = std::move(dual.multipliers);
    starts.insert(starts.begin(), std::move(dual.best.offsets));
  }
  std::optional<Enumerated> enumerated;
  if (CanEnumerate(rows, tracker)) enumerated = EnumerateThreeClasses(rows, sums, tracker, judge);
  OffsetPoint best =
      enumerated ? enumerated->best : SearchOffsets(starts, seed, hints.effort, judge);
  best = Centre(std::move(best), judge);
  result.offsets = std::move(best.offsets);
  result.sums = std::move(best.sums);
  result.exact = enumerated.has_value();
  result.evaluations = judge.evaluations() + (enumerated ? enumerated->evaluations : 0);
  return result;
}

}  // namespace

void CheckProblemFits(const BoundScores& bound, const RateProblem& problem) {
  const RowData& rows = problem.rows();
  if (rows.num_rows() != bound.rows->num_rows() || rows.num_scores() != bound.rows->num_scores()) {
    throw std::invalid_argument(fmt::format(
        "problem: {} rows of {} score(s); allowed: the rows of the scores, {} of {}",
        rows.num_rows(), rows.num_scores(), bound.rows->num_rows(), bound.rows->num_scores()));
  }
  const std::vector<double> no_events(problem.compiled().num_sums(), 0.0);
  if (!std::isnan(problem.Cost(no_events))) return;
  throw std::invalid_argument(
      fmt::format("objective: '{}', undefined on these rows; allowed: rates over rows that exist",
                  ToText(problem.objective().expression)));
}

BestDecision FindBestDecision(const BoundScores& bound, const RateProblem& problem,
                              const Goal& goal, double temperature, std::uint64_t seed,
                              const SearchHints& hints) {
  const DecisionSums sums(problem, bound, temperature);
  MeritTracker tracker(problem, goal);
  if (problem.rows().task() == Task::kBinary) {
    return FindThreshold(bound, problem, sums, tracker, temperature);
  }
  return FindOffsets(OffsetRows(problem, bound, temperature), problem, goal, sums, tracker, seed,
                     hints);
}

}  // namespace bregboost::detail
