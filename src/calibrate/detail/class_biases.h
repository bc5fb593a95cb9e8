// Log-offsets that put the probabilities of K classes right, apart from any limit.
#pragma once

#include <span>
#include <vector>

#include "bregboost/data/row_data.h"

namespace bregboost::detail {

// The b of mean 0 that minimise the cross-entropy of softmax(F / temperature + b), rows weighted by
// RowData::rate_weight: the probabilities of a class then sum up to the weight of its rows. Scores
// are class-major. A trace of shrinkage keeps b finite where a class has no rows or scores separate
// the labels; it is too weak to matter elsewhere.
std::vector<double> FitClassBiases(std::span<const double> scores, const RowData& rows,
                                   double temperature);

}  // namespace bregboost::detail
