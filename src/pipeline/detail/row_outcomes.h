// What an adjusted model says about rows that are not trained on: classes, and losses for limits on
// them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bregboost/certify/certificate.h"
#include "bregboost/data/row_data.h"
#include "bregboost/model/model_adjustment.h"
#include "bregboost/problem/surrogate.h"

namespace bregboost::detail {

// Of the scores F / T + offset: two classes, 1 above 0; more, the first largest. Scores are
// class-major.
Predictions OutcomesOf(std::span<const double> scores, const RowData& rows,
                       const ModelAdjustment& adjustment, const LossOptions& loss);

// F / T + offset, class-major as `scores`.
std::vector<double> AdjustedScores(std::span<const double> scores, std::size_t num_rows,
                                   const ModelAdjustment& adjustment);

}  // namespace bregboost::detail
