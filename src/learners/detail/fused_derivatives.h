// Derivatives of cross-entropies and pulls in one fused pass over the rows.
#pragma once

#include <span>

#include "learners/detail/boosting_pass.h"
#include "learners/detail/cell_charges.h"
#include "learners/detail/fused_rows.h"
#include "learners/detail/pass_weights.h"

namespace bregboost::detail {

// Where the derivatives are taken and go to. All are multiplied by `factor`; charges have it in
// them already.
struct FusedTarget {
  const ScoreView& scores;
  std::span<const Pull> pulls;
  double factor;
  const PassWeights& weights;
  double softmax_hessian_factor;
  std::span<float> gradient;
  std::span<float> hessian;
};

// Objective and constraints, whose cells are the same. At least kFewestFusedRows.
void FusedDerivatives(const CellIds& cells, CellCharges of_objective,
                      const CellCharges& of_constraints, const FusedTarget& target);

// Charges of rows by their rate weights.
void FusedDerivatives(const CellIds& cells, const CellCharges& charges, const FusedTarget& target);

}  // namespace bregboost::detail
