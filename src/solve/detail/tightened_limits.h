// How much stricter than written a limit is while training, so that it holds on rows that had no
// part in it:
//
//   margin * (standard error of the rate) + (what the rate gets worse by on the way to what is
//   deployed)
//
// within 0 and half of the room that the limit leaves: one that asks for the impossible would drive
// the decision to where all rates are 0 or 1.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bregboost/problem/rate_problem.h"

namespace bregboost::detail {

// Allowances of another problem on the same rows, its margins being within half of the room that
// the limits of this one leave at these rates.
std::vector<std::vector<double>> WithinRoom(const RateProblem& problem,
                                            std::span<const double> sums,
                                            std::vector<std::vector<double>> allowances);

class TightenedLimits {
 public:
  // `sums` are the rates that standard errors are taken of. Allowances that `problem` has, where
  // positive, stay as they are: a limit whose sampling error is forgiven is not tightened.
  TightenedLimits(const RateProblem& problem, double margin, std::span<const double> sums);

  // For RateProblem::SetAllowances, when rates are those of `sums` and will be those of sums +
  // shift; an empty `shift` is none.
  std::vector<std::vector<double>> Allowances(const RateProblem& problem,
                                              std::span<const double> sums,
                                              std::span<const double> shift) const;

 private:
  std::vector<std::vector<double>> forgiven_;  // by constraint and rate, as are margins
  std::vector<std::vector<double>> margins_;
};

}  // namespace bregboost::detail
