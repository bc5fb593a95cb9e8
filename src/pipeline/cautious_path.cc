#include "bregboost/pipeline/cautious_path.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace bregboost {
namespace {

// Fine near 0, where large samples need little caution.
constexpr std::array kCautions = {0.01, 0.02, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3,  0.35, 0.4, 0.45,
                                  0.5,  0.55, 0.6,  0.65, 0.7,  0.75, 0.8,  0.85, 0.9,  0.95};

// The path is there to hold limits, whatever the user would pay for a violation: even one that ends
// between two rates that the rows can show.
constexpr double kInsistingRho = 1e6;

// A difference of rates may be anything down to -1; its bound says little about what is near.
constexpr double kLeastRoom = 0.05;

double Room(const Constraint& constraint) {
  Range range = ValueRange(constraint.expression);
  if (constraint.aggregate == Aggregate::kGap || constraint.aggregate == Aggregate::kRatio) {
    range.low = 0.0;
  }
  if (range.low < 0.0) return std::max(std::abs(constraint.bound), kLeastRoom);
  return std::min(constraint.bound - range.low, range.high - constraint.bound);
}

}  // namespace

Constraint Tightened(const Constraint& constraint, double caution) {
  Constraint tightened = constraint;
  const double sign = constraint.relation == Relation::kAtMost ? -1.0 : 1.0;
  tightened.bound += sign * caution * Room(constraint);
  return tightened;
}

std::vector<CautiousDecision> MakeCautiousPath(const Calibrator& calibrator,
                                               const RateProblem& problem, const Calibration& last,
                                               const CalibrationOptions& options) {
  std::vector<CautiousDecision> path = {{.caution = 0.0,
                                         .adjustment = last.adjustment,
                                         .objective = problem.ObjectiveValue(last.sums)}};
  CalibrationOptions insisting = options;
  insisting.rho = kInsistingRho;
  for (const double caution : kCautions) {
    std::vector<double> bounds;
    for (const Constraint& constraint : problem.constraints()) {
      bounds.push_back(Tightened(constraint, caution).bound);
    }
    const RateProblem tightened = problem.WithBounds(bounds);
    const Calibration decision = calibrator.Solve(tightened, insisting);
    // What holds tighter limits holds these: beyond the first that cannot be held none can.
    if (decision.total_violation > 0.0) break;
    path.push_back({.caution = caution,
                    .adjustment = decision.adjustment,
                    .objective = tightened.ObjectiveValue(decision.sums)});
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<CautiousDecision> WithoutHopelessStart(
    std::vector<CautiousDecision> path, double delta,
    const std::function<bool(const CautiousDecision&, double)>& passes) {
  for (const double level : {delta / 5.0, delta}) {
    const auto first = std::find_if(path.begin(), path.end(), [&](const CautiousDecision& point) {
      return passes(point, level);
    });
    if (first == path.end()) continue;
    path.erase(path.begin(), first);
    break;
  }
  return path;
}

}  // namespace bregboost
