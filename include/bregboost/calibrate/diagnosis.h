// Why limits cannot be met: what each could reach alone, how far all of them must be loosened
// together, and which rows stand in the way.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bregboost/calibrate/calibration.h"
#include "bregboost/model/model_adjustment.h"
#include "bregboost/problem/rate_problem.h"

namespace bregboost {

// The best value of one constraint when nothing else counts, and the least cost at that value.
struct ReachableValue {
  std::string text;
  double bound = 0.0;
  double value = 0.0;  // NaN where no decision defines it
  double cost = 0.0;
  bool meets_bound = false;
};

struct BlockingCell {
  std::string text;  // "class=1, sex=F"
  std::size_t rows = 0;
  // Of everything that the cells add to the binding limits, this cell's part; at most 1.
  double share = 0.0;
};

struct Reachability {
  bool feasible = false;  // one decision meets every bound as given
  std::vector<ReachableValue> alone;
  // The least s >= 0 such that one decision meets every bound loosened by s (<= b becomes <= b + s,
  // >= b becomes >= b - s, in the user's unit); infinite where some constraint is always undefined.
  double relaxation = 0.0;
  // The decision whose worst constraint exceeds its bound least, or has most to spare; of several
  // the cheapest.
  ModelAdjustment adjustment;
  double cost = 0.0;
  // Constraints without which less loosening would do, and those within two rows of their loosened
  // bound. None if feasible.
  std::vector<std::string> binding;
  // The cells that add most to the binding constraints, largest first, at most five.
  std::vector<BlockingCell> blocking;
  bool exact = false;  // false: figures are the best found, the truth may be better
};

// One search per constraint and one for all of them, and if they cannot be met together one more
// for each that comes near its loosened bound. Throws as Calibrator::Solve().
Reachability FindReachability(const Calibrator& calibrator, const RateProblem& problem,
                              const CalibrationOptions& options = {});

// How finely the rows of a constraint, or of one of its groups, can tell its rate.
struct SubsetSize {
  std::string text;
  std::string group;     // "sex=F"; empty without groups
  std::size_t rows = 0;  // of its subset
  double step = 0.0;     // what one row of mean weight moves the rate by; 1 / rows for a plain rate
  double allowed = 0.0;  // the share of bad events that the bound allows: b, or 1 - b for >= b
  bool too_small = false;  // step > allowed: a single bad row breaks the bound
  // Rows for which a standard error sqrt(a (1 - a) / n) of a rate at its bound is half of what is
  // allowed; nothing where nothing is allowed.
  std::optional<std::size_t> rows_needed;
};

// For constraints on shares whose rows do not depend on the decision: not losses, not precision.
std::vector<SubsetSize> MeasureSubsets(const RateProblem& problem);

}  // namespace bregboost
