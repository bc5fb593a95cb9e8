// Temperature scaling: one number that makes confident scores as right as they claim to be.
#pragma once

#include <span>

#include "bregboost/data/row_data.h"

namespace bregboost {

// The T that minimises the cross-entropy of softmax(F / T) (binary: of the log-odds F / T), rows
// weighted by RowData::weight, over exp(-3) <= T <= exp(5). The loss is convex in 1 / T, so there
// is one minimum; a few passes over the rows find it to about ten digits. Scores are class-major:
// score k of row i is scores[k * n + i].
//
// Returns 1 where there is nothing to learn from: all weight on rows of one label, or all rows with
// the same scores. Scores that separate the labels end at the smallest T, scores that say nothing
// at the largest. Throws std::invalid_argument for a numeric target, a wrong number of scores or
// one that is not finite.
double FitTemperature(std::span<const double> scores, const RowData& rows);

// The mean cross-entropy at that temperature: what scores are worth apart from how sure they are,
// which calibration puts right anyway. A model that goes on learning grows too sure long before it
// grows worse, so this finds the round to stop at where the plain loss stops too soon
// (docs/limits.md).
double RefinementLoss(std::span<const double> scores, const RowData& rows);

}  // namespace bregboost
