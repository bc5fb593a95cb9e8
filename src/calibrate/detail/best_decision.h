// The offsets that do best at a goal: every threshold for two classes, every decision for three
// classes of few rows, a search otherwise.
#pragma once

#include <cstdint>
#include <vector>

#include "bregboost/problem/rate_problem.h"
#include "calibrate/detail/bound_scores.h"
#include "calibrate/detail/merit_tracker.h"
#include "calibrate/detail/offset_search.h"

namespace bregboost::detail {

struct BestDecision {
  std::vector<double> offsets;
  std::vector<double> sums;         // S
  std::vector<double> multipliers;  // of the dual steps, where they apply
  bool exact = false;
  std::int64_t evaluations = 0;
};

BestDecision FindBestDecision(const BoundScores& bound, const RateProblem& problem,
                              const Goal& goal, double temperature, std::uint64_t seed,
                              const SearchHints& hints = {});

// Throws std::invalid_argument unless `problem` has an objective on the rows of `bound`.
void CheckProblemFits(const BoundScores& bound, const RateProblem& problem);

}  // namespace bregboost::detail
