#include "calibrate/detail/threshold_sweep.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bregboost::detail {

ThresholdRows::ThresholdRows(const RateProblem& problem, const BoundScores& bound,
                             double temperature) {
  const RowData& rows = problem.rows();
  const std::vector<std::uint32_t>& cell_of_row = problem.compiled().cells.cell_of_row;
  const std::size_t n = bound.ascending.size();
  scores.resize(n);
  cells.resize(n);
  weights.resize(n);
  std::size_t end = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t row = bound.ascending[i];
    const double weight = rows.rate_weight(row);
    if (weight <= 0.0) continue;
    scores[end] = bound.sorted_scores[i] / temperature;
    cells[end] = cell_of_row[row];
    weights[end] = weight;
    ++end;
  }
  scores.resize(end);
  cells.resize(end);
  weights.resize(end);
}

double ThresholdRows::Threshold(std::size_t first) const {
  constexpr double kBeyond = 1.0;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (first == 0) return std::min(scores[0] - kBeyond, std::nextafter(scores[0], -kInfinity));
  const double below = scores[first - 1];
  if (first == scores.size()) return below + kBeyond;
  const double middle = below + 0.5 * (scores[first] - below);
  return middle < scores[first] ? middle : below;  // neighbouring doubles have nothing between
}

std::vector<double> ThresholdRows::Predicted(std::size_t first, std::size_t num_cells) const {
  std::vector<double> predicted(num_cells * 2, 0.0);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    predicted[cells[i] * 2 + (i < first ? 0 : 1)] += weights[i];
  }
  return predicted;
}

BestThreshold FindBestThreshold(const ThresholdRows& rows, const DecisionSums& sums,
                                MeritTracker& tracker) {
  BestThreshold best;
  double distance = 0.0;
  SweepThresholds(rows, sums, tracker, [&](std::size_t first) {
    const Standing standing = tracker.Evaluate();
    ++best.evaluations;
    const bool is_first = best.evaluations == 1;
    if (!is_first && Better(best.standing, standing)) return;
    const double its_distance = std::abs(rows.Threshold(first));
    if (!is_first && !Better(standing, best.standing) && its_distance >= distance) return;
    best.first = first;
    best.standing = standing;
    distance = its_distance;
  });
  return best;
}

}  // namespace bregboost::detail
