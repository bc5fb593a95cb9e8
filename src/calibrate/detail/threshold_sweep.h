// All thresholds of binary scores, from the highest to the lowest: rows change from 0 to 1 in the
// order of their scores, so every threshold's merit follows from the one before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bregboost/problem/rate_problem.h"
#include "calibrate/detail/bound_scores.h"
#include "calibrate/detail/decision_sums.h"
#include "calibrate/detail/merit_tracker.h"
#include "calibrate/detail/same_place.h"

namespace bregboost::detail {

// Rows of positive rate weight in ascending order of F / T.
struct ThresholdRows {
  ThresholdRows(const RateProblem& problem, const BoundScores& bound, double temperature);

  std::vector<double> scores;
  std::vector<std::uint32_t> cells;
  std::vector<double> weights;

  // A threshold that puts rows [first, n) above it and the others at or below: half-way between
  // its neighbours, 1 beyond them at the ends.
  double Threshold(std::size_t first) const;
  // The weight of each (cell, prediction), afresh.
  std::vector<double> Predicted(std::size_t first, std::size_t num_cells) const;
};

// Calls visit(first) for every `first` that a threshold can have, descending, with `tracker` at
// that decision.
template <class Visit>
void SweepThresholds(const ThresholdRows& rows, const DecisionSums& sums, MeritTracker& tracker,
                     const Visit& visit) {
  tracker.Reset(sums.OfAll(0));
  std::size_t first = rows.scores.size();
  visit(first);
  while (first > 0) {
    const double score = rows.scores[first - 1];  // not the last one's: places do not run together
    do {
      --first;
      tracker.Move(rows.cells[first], /*from=*/0, /*to=*/1, rows.weights[first]);
    } while (first > 0 && SamePlace(score, rows.scores[first - 1]));
    visit(first);
  }
}

struct BestThreshold {
  std::size_t first = 0;
  Standing standing;
  std::int64_t evaluations = 0;
};
// Of equal standings, the threshold nearest to 0.
BestThreshold FindBestThreshold(const ThresholdRows& rows, const DecisionSums& sums,
                                MeritTracker& tracker);

}  // namespace bregboost::detail
