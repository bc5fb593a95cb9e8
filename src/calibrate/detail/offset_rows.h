// Rows of K > 2 classes as calibration sees them: scores F / T row by row, cell, weight.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bregboost/problem/rate_problem.h"
#include "calibrate/detail/bound_scores.h"

namespace bregboost::detail {

// Rows of positive rate weight.
struct OffsetRows {
  OffsetRows(const RateProblem& problem, const BoundScores& bound, double temperature);

  std::size_t size() const { return cells.size(); }
  const double* row(std::size_t i) const { return scores.data() + i * num_classes; }

  std::size_t num_classes;
  std::size_t num_cells;
  std::vector<double> scores;  // [i * K + k]
  std::vector<std::uint32_t> cells;
  std::vector<double> weights;

  // The weight of each (cell, prediction) when the first largest of score + offset is predicted.
  std::vector<double> Predicted(std::span<const double> offsets) const;
};

}  // namespace bregboost::detail
