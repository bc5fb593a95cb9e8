// A line of decisions from most to least cautious, fixed on unseen rows of the training data: what
// a certificate walks along (certify/fixed_sequence.h) before it looks at its own rows.
//
// Caution u in [0, 1) moves every bound by u times the room that it has: the smaller of its
// distances to the ends of what its rate can be (b and 1 - b for a bound b on one rate, on a gap or
// a ratio). The grid is u = 0.95, 0.9, ..., 0.05, 0.02, 0.01, 0, from the largest below which every
// point's moved limits can be held on the unseen rows; the last is the decision without caution.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bregboost/calibrate/calibration.h"
#include "bregboost/model/model_adjustment.h"
#include "bregboost/problem/rate_problem.h"

namespace bregboost {

struct CautiousDecision {
  double caution = 0.0;
  ModelAdjustment adjustment;
  double objective = 0.0;  // on the unseen rows, as the user named it
};

// The constraint with its bound moved by `caution`.
Constraint Tightened(const Constraint& constraint, double caution);

// `problem` is bound to the rows of the calibrator, and `last` its solution there.
std::vector<CautiousDecision> MakeCautiousPath(const Calibrator& calibrator,
                                               const RateProblem& problem, const Calibration& last,
                                               const CalibrationOptions& options);

// The path without its first points, those too cautious to be shown: a precision that is reached by
// selecting next to nobody cannot be certified on the few that are left. `passes(point, delta)`
// says whether a point would pass on rows like those of the certificate, as many of them, that are
// not those; the first that does at a fifth of `delta`, or else at `delta`, starts the path. Where
// none would, the path is left as it is.
std::vector<CautiousDecision> WithoutHopelessStart(
    std::vector<CautiousDecision> path, double delta,
    const std::function<bool(const CautiousDecision&, double)>& passes);

}  // namespace bregboost
