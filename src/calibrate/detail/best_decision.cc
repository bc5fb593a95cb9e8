#include "calibrate/detail/best_decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

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

// Where a search begins, and which offsets it moves.
struct Course {
  std::vector<std::vector<double>> starts;
  std::vector<std::size_t> moved;
  std::vector<double> multipliers;  // of the dual steps, where they apply
};

// A class whose errors cost nothing would be given up by an offset that nothing brings back.
bool OthersArePaidFor(const ClassCharges& charges) {
  for (std::size_t k = 0; k < charges.of_cost.size(); ++k) {
    const bool is_bounded =
        std::find(charges.bounded.begin(), charges.bounded.end(), k) != charges.bounded.end();
    if (!is_bounded && !(charges.of_cost[k] > 0.0)) return false;
  }
  return true;
}

// Where probabilities are right, only classes that a limit is about need offsets beyond what the
// cost asks for. These hold whatever limits all offsets can hold: raised together they win against
// every other class. The fewer offsets are chosen, the less noise they follow.
void MoveBoundedClasses(const ClassCharges& charges, const std::vector<double>& biases,
                        Course& course) {
  course.starts = {OffsetsOfCharges(charges.of_cost)};
  for (std::size_t k = 0; k < biases.size(); ++k) course.starts.front()[k] += biases[k];
  course.moved = charges.bounded;
}

Course ChooseCourse(const BoundScores& bound, const RateProblem& problem, const Goal& goal,
                    double temperature, bool all_offsets, OffsetJudge& judge) {
  Course course = {.starts = PriorStarts(problem.rows()),
                   .moved = AllOf(problem.rows().num_scores()),
                   .multipliers = {}};
  if (goal.kind != Goal::Kind::kMerit) return course;
  const std::optional<ClassCharges> charges = ReadClassCharges(problem);
  if (!charges) return course;
  std::vector<double> biases;
  if (!all_offsets && problem.rows().num_scores() > 3 && OthersArePaidFor(*charges)) {
    biases = bound.BiasesAt(temperature);
    MoveBoundedClasses(*charges, biases, course);
  }
  if (problem.num_limits() > 0) {
    DualResult dual = TakeDualSteps(problem, goal.rho, biases, judge);
    course.multipliers = std::move(dual.multipliers);
    course.starts.insert(course.starts.begin(), std::move(dual.best.offsets));
  }
  return course;
}

BestDecision FindOffsets(const BoundScores& bound, const RateProblem& problem, const Goal& goal,
                         const DecisionSums& sums, MeritTracker& tracker, double temperature,
                         std::uint64_t seed, const SearchHints& hints) {
  const OffsetRows rows(problem, bound, temperature);
  OffsetJudge judge(rows, sums, tracker);
  Course course = ChooseCourse(bound, problem, goal, temperature, hints.all_offsets, judge);
  course.starts.insert(course.starts.begin(), hints.starts.begin(), hints.starts.end());
  std::optional<Enumerated> enumerated;
  if (CanEnumerate(rows, tracker)) enumerated = EnumerateThreeClasses(rows, sums, tracker, judge);
  OffsetPoint best = enumerated
                         ? enumerated->best
                         : SearchOffsets(course.starts, course.moved, seed, hints.effort, judge);
  best = Centre(std::move(best), course.moved, judge);
  BestDecision result;
  result.offsets = std::move(best.offsets);
  result.sums = std::move(best.sums);
  result.multipliers = std::move(course.multipliers);
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
  return FindOffsets(bound, problem, goal, sums, tracker, temperature, seed, hints);
}

}  // namespace bregboost::detail
