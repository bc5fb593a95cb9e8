// Offsets of three classes by trying every decision that offsets can make. Each row cuts the plane
// of offset differences by three rays into its three predictions; the rays of n rows make O(n^2)
// regions. Every region lies beside some ray, so walks along both sides of all 3 n rays meet them
// all.
#pragma once

#include <optional>

#include "calibrate/detail/decision_sums.h"
#include "calibrate/detail/merit_tracker.h"
#include "calibrate/detail/offset_rows.h"
#include "calibrate/detail/offset_search.h"

namespace bregboost::detail {

// 6 n^2 decisions, each as dear as the rates that a row touches, in at most about 2e8 operations:
// up to some 2,000 rows with a few limits.
bool CanEnumerate(const OffsetRows& rows, const MeritTracker& tracker);

struct Enumerated {
  OffsetPoint best;
  std::int64_t evaluations = 0;
};
// Nothing where the best region is so thin that no offsets in double precision lie in it.
std::optional<Enumerated> EnumerateThreeClasses(const OffsetRows& rows, const DecisionSums& sums,
                                                MeritTracker& tracker, OffsetJudge& judge);

}  // namespace bregboost::detail
