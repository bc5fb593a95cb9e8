#include "bregboost/calibrate/threshold_merit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "calibrate/detail/decision_sums.h"
#include "calibrate/detail/merit_tracker.h"
#include "calibrate/detail/score_checks.h"

namespace bregboost {
namespace {

// Bins of equal width; what lies outside is in the first or the last.
struct Grid {
  double low = 0.0, high = 0.0;
  std::size_t bins = 1;

  double width() const { return (high - low) / static_cast<double>(bins); }
  std::size_t Bin(double score) const {
    if (!(score > low)) return 0;
    if (score >= high) return bins - 1;
    return std::min(static_cast<std::size_t>((score - low) / width()), bins - 1);
  }
};

// Each entry is a number that workers send, and many cells need no finer grid than few.
std::size_t NumberOfBins(std::size_t num_cells) {
  constexpr std::size_t kMostEntries = 16'384, kFewest = 64, kMost = 1024;
  return std::clamp(kMostEntries / std::max<std::size_t>(num_cells, 1), kFewest, kMost);
}

Grid GridOver(std::span<const double> scores, const RowData& rows, std::size_t bins) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> ends = {-kInfinity, -kInfinity};  // of -score and of score
  for (const double score : scores) {
    ends[0] = std::max(ends[0], -score);
    ends[1] = std::max(ends[1], score);
  }
  if (rows.workers) rows.workers->Max(ends);
  return {.low = -ends[0], .high = ends[1], .bins = bins};
}

class ThresholdGrid {
 public:
  ThresholdGrid(std::span<const double> scores, const RateProblem& problem, double rho)
      : scores_(scores),
        problem_(problem),
        cells_(problem.compiled().cells),
        sums_(problem, scores),
        tracker_(problem, {.kind = detail::Goal::Kind::kMerit, .rho = rho}) {}

  // The first bin that the best threshold of the grid puts above it.
  std::size_t FindBest(const Grid& grid) {
    Tally(grid);
    const std::size_t cells = cells_.cells.size();
    tracker_.Reset(sums_.OfAll(0));
    std::size_t best = grid.bins;
    detail::Standing standing = tracker_.Evaluate();
    for (std::size_t bin = grid.bins; bin-- > 0;) {
      bool moved = false;
      for (std::uint32_t cell = 0; cell < cells; ++cell) {
        const double weight = weights_[bin * cells + cell];
        if (weight == 0.0) continue;
        tracker_.Move(cell, /*from=*/0, /*to=*/1, weight);
        moved = true;
      }
      if (!moved) continue;
      const detail::Standing now = tracker_.Evaluate();
      if (!Better(now, standing)) continue;
      best = bin;
      standing = now;
    }
    return best;
  }

  // Of the grid that was searched last.
  double Merit(std::size_t first_above, double rho) const {
    const std::size_t cells = cells_.cells.size();
    std::vector<double> predicted(cells * 2, 0.0);
    for (std::size_t j = 0; j < weights_.size(); ++j) {
      predicted[(j % cells) * 2 + (j / cells < first_above ? 0 : 1)] += weights_[j];
    }
    return problem_.Merit(sums_.Of(predicted), rho);
  }

 private:
  void Tally(const Grid& grid) {
    const RowData& rows = problem_.rows();
    const std::size_t cells = cells_.cells.size();
    weights_.assign(grid.bins * cells, 0.0);
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      weights_[grid.Bin(scores_[i]) * cells + cells_.cell_of_row[i]] += rows.rate_weight(i);
    }
    if (rows.workers) rows.workers->Sum(weights_);
  }

  std::span<const double> scores_;
  const RateProblem& problem_;
  const CellTable& cells_;
  detail::DecisionSums sums_;
  detail::MeritTracker tracker_;
  std::vector<double> weights_;  // by bin, then by cell
};

}  // namespace

double MeritOfBestThreshold(std::span<const double> scores, const RateProblem& problem,
                            double rho) {
  const RowData& rows = problem.rows();
  if (rows.task() != Task::kBinary) {
    throw std::invalid_argument(
        fmt::format("rows: {} scores each; allowed: 1, of two classes", rows.num_scores()));
  }
  detail::CheckCalibrationScores(rows, scores);
  ThresholdGrid thresholds(scores, problem, rho);
  const Grid coarse = GridOver(scores, rows, NumberOfBins(problem.compiled().cells.cells.size()));
  const double near =
      coarse.low + static_cast<double>(thresholds.FindBest(coarse)) * coarse.width();
  const Grid fine{.low = near - coarse.width(), .high = near + coarse.width(), .bins = coarse.bins};
  return thresholds.Merit(thresholds.FindBest(fine), rho);
}

}  // namespace bregboost
