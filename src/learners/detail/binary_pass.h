// The fused passes for two classes and cross-entropies. Missing class 0 costs log(1 + e^F) with the
// slope p = sigmoid(F), missing class 1 costs log(1 + e^-F) with the slope -q, q = 1 - p, and both
// bend by p q. p and q are computed apart, so that confident rows keep their digits.
#pragma once

#include <cstddef>
#include <cstdint>
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
  const MissCoefficients* by_cell = nullptr;
  const float* weights = nullptr;
};

// The common case in one look-up: every row is charged for missing its own label only, by its cell
// and, on top, by its label. Cells come sorted by label.
struct OwnMissTable {
  const float* by_cell = nullptr;  // kFewestTableEntries or more; bends where it is positive
  std::size_t num_cells = 0;
  std::uint32_t first_cell_of_label_1 = 0;
  float of_label[2] = {0.0F, 0.0F};  // >= 0
  const float* weights = nullptr;    // of both
};

struct BinaryRows {
  ScoreData scores;
  CellIds cells;
};

// Overwrites gradient and hessian of the rows begin .. end, at least kFewestFusedRows of them. The
// tables are added up; at most two.
void DeriveMisses(const BinaryRows& rows, std::span<const MissTable> tables, const PullTerms& pulls,
                  std::size_t begin, std::size_t end, float* gradient, float* hessian);
void DeriveOwnMisses(const BinaryRows& rows, const OwnMissTable& table, const PullTerms& pulls,
                     std::size_t begin, std::size_t end, float* gradient, float* hessian);

struct MissSums {
  double miss[2] = {0.0, 0.0};       // weighted losses
  double predicted[2] = {0.0, 0.0};  // weight of the rows predicted 0 and 1; NaN if one is NaN
};

// Adds the rows begin .. end to the sums of their cells. `weights` null: all 1.
void AccumulateMisses(const BinaryRows& rows, const double* weights, std::size_t begin,
                      std::size_t end, std::span<MissSums> by_cell);
// Rows of weight 1, and only the loss of missing the cell's own label and the rows predicted 1.
void AccumulateOwnMisses(const BinaryRows& rows, std::uint32_t first_cell_of_label_1,
                         std::size_t begin, std::size_t end, std::span<MissSums> by_cell);

}  // namespace bregboost::detail
