// The search for K > 2 offsets: exact line searches from several starts.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "calibrate/detail/decision_sums.h"
#include "calibrate/detail/merit_tracker.h"
#include "calibrate/detail/offset_rows.h"

namespace bregboost::detail {

struct OffsetPoint {
  std::vector<double> offsets;  // of mean 0
  std::vector<double> sums;     // S of the decision
  Standing standing;
};

// Judges offsets by all rows afresh. Each thread has its own.
class OffsetJudge {
 public:
  OffsetJudge(const OffsetRows& rows, const DecisionSums& sums, MeritTracker tracker)
      : rows_(rows), sums_(sums), tracker_(std::move(tracker)) {}
  // One that has done nothing yet.
  OffsetJudge Another() const { return {rows_, sums_, tracker_}; }

  OffsetPoint At(std::vector<double> offsets);  // shifted to mean 0
  // The best point of the line up to +- reach, judged afresh.
  OffsetPoint AlongLine(const OffsetPoint& from, std::span<const double> direction, double reach);

  // The work of another judge counts as its own.
  void Count(const OffsetJudge& other) {
    evaluations_ += other.evaluations_;
    sweeps_ += other.sweeps_;
  }

  const OffsetRows& rows() const { return rows_; }
  std::int64_t evaluations() const { return evaluations_; }
  std::int64_t sweeps() const { return sweeps_; }

 private:
  const OffsetRows& rows_;
  const DecisionSums& sums_;
  MeritTracker tracker_;
  std::int64_t evaluations_ = 0;
  std::int64_t sweeps_ = 0;
};

// Where to look besides the starts that every search has, how long, and how widely.
struct SearchHints {
  std::vector<std::vector<double>> starts = {};
  double effort = 1.0;       // share of the sweeps that the number of rows allows, in (0, 1]
  bool all_offsets = false;  // see CalibrationOptions
};

std::vector<std::size_t> AllOf(std::size_t classes);

// Moves the offsets of the classes in `moved`; those of others keep their distances as they are in
// the starts. From each start along the axes until nothing improves, then so from perturbed points;
// from the best of all along pairs of axes and random directions. Ends with no improvement, or when
// the sweeps that the number of rows allows are used up. Points and lines are tried a few at a
// time, on as many threads as there are, with the same result on any number of them. Beyond 100,000
// rows, where the merit is smooth, only the best start is followed, along whole axes at first and
// within 0.5 of the best point from then on, and nothing is perturbed.
OffsetPoint SearchOffsets(const std::vector<std::vector<double>>& starts,
                          const std::vector<std::size_t>& moved, std::uint64_t seed, double effort,
                          OffsetJudge& judge);

// The same decision's standing, away from the rows' changes: the middle along the axis of each of
// these classes.
OffsetPoint Centre(OffsetPoint point, const std::vector<std::size_t>& moved, OffsetJudge& judge);

// Starts that need no multipliers: no offsets, and classes made equally frequent, half-way and all
// the way.
std::vector<std::vector<double>> PriorStarts(const RowData& rows);

}  // namespace bregboost::detail
