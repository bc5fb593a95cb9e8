// Checks of what callers pass at every evaluation. They throw std::invalid_argument naming the
// field, the value and what is allowed.
#pragma once

#include <cstddef>
#include <span>

#include "bregboost/data/row_data.h"
#include "bregboost/problem/surrogate.h"

namespace bregboost::detail {

// Cross-entropy for class labels, the others for numeric targets.
void CheckLossFits(const RowData& rows, const LossOptions& options);

// One score per row and class; `gradient` alike, and `hessian` unless it is empty.
void CheckScores(const RowData& rows, std::span<const double> scores);
void CheckDerivatives(const RowData& rows, std::span<const double> scores,
                      std::span<const double> gradient, std::span<const double> hessian);

void CheckMultipliers(std::size_t num_constraints, std::span<const double> multipliers);

}  // namespace bregboost::detail
