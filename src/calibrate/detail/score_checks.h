// Checks of the scores that calibration is given.
#pragma once

#include <span>

#include "bregboost/data/row_data.h"

namespace bregboost::detail {

// Class labels, one finite score per row and class; else std::invalid_argument.
void CheckCalibrationScores(const RowData& rows, std::span<const double> scores);

}  // namespace bregboost::detail
