// Prices of limits: by how much the best cost falls if a bound is loosened a little. They are the
// multipliers of the calibrated decision, estimated from the rows near its boundaries
// (docs/calibration.md, "Prices").
#pragma once

#include <string>
#include <vector>

#include "bregboost/calibrate/calibration.h"
#include "bregboost/problem/rate_problem.h"

namespace bregboost {

struct Price {
  std::string text;  // the constraint as written
  // Points of cost that one point of the bound buys, >= 0: -d(best cost) / d(bound) for <=, with
  // the sign turned for >=. Where the decision breaks the constraint, its rho: what merit charges;
  // but 0 where no row near a boundary bears on it, as on a limit of the loss: nothing is bought.
  double price = 0.0;
  // Of the sampling of the rows; 0 for prices that are no estimates (not binding, or rho).
  double standard_error = 0.0;
  // At most max(20, sqrt(n)) rows must change their prediction before the bound is hit.
  bool binding = false;
};

// Prices every constraint at a decision of calibrator.Solve(problem), one price per constraint as
// written. Uses the max(200, n^(4/5)) rows nearest to each boundary. Two constraints that bind at
// once along the same direction share one slope: their prices are then one of several solutions.
// Throws as Calibrator::Solve().
std::vector<Price> FindPrices(const Calibrator& calibrator, const RateProblem& problem,
                              const Calibration& decision);

}  // namespace bregboost
