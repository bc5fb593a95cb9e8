// The passes in double, for everything that the fused ones do not cover: any constraint set,
// surrogate, loss and number of rows.
#pragma once

#include <span>
#include <vector>

#include "bregboost/problem/objective.h"
#include "learners/detail/boosting_pass.h"
#include "learners/detail/pass_weights.h"

namespace bregboost::detail {

class GenericPass {
 public:
  // Keeps references.
  GenericPass(const Objective& objective, const PassWeights& weights, double softmax_hessian_factor)
      : objective_(objective), weights_(weights), softmax_hessian_factor_(softmax_hessian_factor) {}

  LearnerValues Evaluate(const ConstraintSet& constraints, const ScoreView& scores);

  // Derivatives of psi times `factor`.
  void Derive(const Lagrangian& lagrangian, double factor, const ScoreView& scores,
              std::span<float> gradient, std::span<float> hessian);
  void Derive(const CellCosts& costs, std::span<const Pull> pulls, double factor,
              const ScoreView& scores, std::span<float> gradient, std::span<float> hessian);

 private:
  std::span<const double> AsDoubles(const ScoreView& scores);
  void AddCosts(const CellCosts& costs, std::span<const double> scores);
  void Store(std::span<const Pull> pulls, double factor, const ScoreView& scores,
             std::span<float> gradient, std::span<float> hessian) const;

  const Objective& objective_;
  const PassWeights& weights_;
  double softmax_hessian_factor_;
  // Class-major, kept between calls.
  std::vector<double> scores_;
  std::vector<double> gradient_;
  std::vector<double> hessian_;
};

}  // namespace bregboost::detail
