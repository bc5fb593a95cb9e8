#include "calibrate/detail/score_checks.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "problem/detail/input_checks.h"

namespace bregboost::detail {

void CheckCalibrationScores(const RowData& rows, std::span<const double> scores) {
  if (rows.task() == Task::kRegression) {
    throw std::invalid_argument("rows: a numeric target; allowed: class labels");
  }
  CheckScores(rows, scores);
  for (std::size_t j = 0; j < scores.size(); ++j) {
    if (std::isfinite(scores[j])) continue;
    throw std::invalid_argument(
        fmt::format("scores: {} in row {}; allowed: finite", scores[j], j % rows.num_rows()));
  }
}

}  // namespace bregboost::detail
