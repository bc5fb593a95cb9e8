// A set of no constraints, where only the objective is wanted.
#pragma once

#include "bregboost/problem/constraint_set.h"

namespace bregboost::detail {

class NoConstraints final : public ConstraintSet {
 public:
  std::size_t size() const override { return 0; }
  ConstraintValues Evaluate(std::span<const double> /*scores*/) const override { return {}; }
  double AddLagrangian(std::span<const double> /*scores*/, std::span<const double> /*multipliers*/,
                       std::span<double> /*gradient*/,
                       std::span<double> /*hessian*/) const override {
    return 0.0;
  }
  double LipschitzBound() const override { return 0.0; }
};

}  // namespace bregboost::detail
