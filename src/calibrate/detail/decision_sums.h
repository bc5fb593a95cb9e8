// Event sums S of decisions, from the weight that each cell gives to each prediction.
#pragma once

#include <span>
#include <vector>

#include "bregboost/problem/rate_problem.h"
#include "calibrate/detail/bound_scores.h"

namespace bregboost::detail {

class DecisionSums {
 public:
  // Keeps a reference to `problem`. Losses do not depend on the decision: they are those of F / T.
  DecisionSums(const RateProblem& problem, const BoundScores& bound, double temperature);
  DecisionSums(const RateProblem& problem, std::span<const double> scores);  // at temperature 1

  // S where cell c predicts k with weight predicted[c * K + k].
  std::vector<double> Of(std::span<const double> predicted) const;
  // S where all rows are predicted k.
  std::vector<double> OfAll(std::size_t k) const;

 private:
  void TakeLosses(std::span<const double> scores);

  const RateProblem& problem_;
  std::vector<double> losses_;  // S with nothing but losses
};

}  // namespace bregboost::detail
