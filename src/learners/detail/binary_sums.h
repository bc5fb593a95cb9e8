// Sums of cross-entropies with two classes, and counts of predictions, by cell. A row is predicted
// 1 if its score is above 0. Losses are computed in float32 and added up in double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "learners/detail/fused_rows.h"

namespace bregboost::detail {

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
