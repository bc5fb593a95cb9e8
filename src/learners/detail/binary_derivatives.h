// Derivatives of cross-entropies with two classes. Missing class 0 costs log(1 + e^F) with the
// slope p = sigmoid(F), missing class 1 costs log(1 + e^-F) with the slope -q, q = 1 - p, and both
// bend by p q. p and q are computed apart, so that confident rows keep their digits.
#pragma once

#include <cstddef>
#include <span>

#include "learners/detail/fused_rows.h"

namespace bregboost::detail {

// Coefficients of a cell's rows; four floats that are moved as one vector.
struct MissCoefficients {
  float miss[2] = {0.0F, 0.0F};
  float bend = 0.0F;  // the sum of the positive parts of what `miss` sums up
  float unused = 0.0F;
};

// Coefficients by cell, and the weights of the rows they belong to (null: all 1).
struct MissTable {
  std::size_t num_cells = 0;
  const MissCoefficients* by_cell = nullptr;
  const float* weights = nullptr;
};

// Overwrites gradient and hessian of the rows begin .. end, at least kFewestFusedRows of them. The
// tables, at least one, are added up; their cells are alike.
void DeriveMisses(const BinaryRows& rows, std::span<const MissTable> tables, const PullTerms& pulls,
                  std::size_t begin, std::size_t end, float* gradient, float* hessian);

}  // namespace bregboost::detail
