// The best point of a line in offset space, exactly. Along offsets + t * direction the prediction
// of a row follows the upper envelope of K lines score_k + offset_k + t * direction_k. The places
// where any row changes, sorted, cut the line into intervals of one decision each.
#pragma once

#include <cstdint>
#include <span>

#include "calibrate/detail/decision_sums.h"
#include "calibrate/detail/merit_tracker.h"
#include "calibrate/detail/offset_rows.h"

namespace bregboost::detail {

struct LineBest {
  // Inside the interval in the middle of the best run of intervals that stand alike, the run
  // nearest to t = 0 if there are several; an open end is 1 beyond the last change.
  double t = 0.0;
  Standing standing;
  std::int64_t evaluations = 0;
};

// Of -reach <= t <= reach, which may be infinite; a short line has few changes to sort.
LineBest SweepLine(const OffsetRows& rows, std::span<const double> offsets,
                   std::span<const double> direction, double reach, const DecisionSums& sums,
                   MeritTracker& tracker);

}  // namespace bregboost::detail
