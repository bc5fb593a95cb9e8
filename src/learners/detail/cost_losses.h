// The cost-sensitive form as something to add to an objective: the mean over rows, by their rate
// weights, of sum_k costs[cell, k] * cross-entropy towards k, minus the objective's own loss. With
// the objective it adds up to the costs (and the objective's penalty, which stays).
#pragma once

#include <span>
#include <vector>

#include "bregboost/problem/cells.h"
#include "bregboost/problem/constraint_set.h"
#include "bregboost/problem/objective.h"

namespace bregboost::detail {

class CostLosses final : public ConstraintSet {
 public:
  // References are kept; `costs` has one value per cell and class (two classes: 2).
  CostLosses(const Objective& objective, const CellTable& cells, std::span<const double> costs);

  std::size_t size() const override { return 1; }
  ConstraintValues Evaluate(std::span<const double> scores) const override;
  double AddLagrangian(std::span<const double> scores, std::span<const double> multipliers,
                       std::span<double> gradient, std::span<double> hessian) const override;

 private:
  // Adds factor times the derivatives of the costs; returns factor times their value.
  double AddCosts(std::span<const double> scores, double factor, std::span<double> gradient) const;

  const Objective& objective_;
  const CellTable& cells_;
  std::vector<double> costs_;
  double total_weight_ = 0.0;
};

}  // namespace bregboost::detail
