#include "calibrate/detail/offset_rows.h"

#include "detail/parallel.h"

namespace bregboost::detail {

OffsetRows::OffsetRows(const RateProblem& problem, const BoundScores& bound, double temperature)
    : num_classes(problem.rows().labels.levels.size()),
      num_cells(problem.compiled().cells.cells.size()) {
  const RowData& rows = problem.rows();
  const std::size_t n = rows.num_rows();
  scores.reserve(n * num_classes);
  for (std::size_t i = 0; i < n; ++i) {
    const double weight = rows.rate_weight(i);
    if (weight <= 0.0) continue;
    for (std::size_t k = 0; k < num_classes; ++k) {
      scores.push_back(bound.scores[k * n + i] / temperature);
    }
    cells.push_back(problem.compiled().cells.cell_of_row[i]);
    weights.push_back(weight);
  }
}

std::vector<double> OffsetRows::Predicted(std::span<const double> offsets) const {
  const std::vector<double> none(num_cells * num_classes, 0.0);
  std::vector<std::vector<double>> partial(NumChunks(size()), none);
  ForEachChunk(size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    std::vector<double>& part = partial[chunk];
    for (std::size_t i = begin; i < end; ++i) {
      const double* z = row(i);
      std::size_t top = 0;
      double highest = z[0] + offsets[0];
      for (std::size_t k = 1; k < num_classes; ++k) {
        const double value = z[k] + offsets[k];
        if (value > highest) {
          highest = value;
          top = k;
        }
      }
      part[cells[i] * num_classes + top] += weights[i];
    }
  });
  std::vector<double> total = none;
  AddInOrder(partial, total);
  return total;
}

}  // namespace bregboost::detail
