// Where XGBoost starts from by itself, on the user's data.
#pragma once

#include <string>
#include <vector>

#include "bregboost/data/row_data.h"
#include "learners/detail/xgboost_api.h"
#include "learners/detail/xgboost_parameters.h"

namespace bregboost::detail {

// What an average score depends on.
struct TargetSummary {
  std::vector<double> class_weights;  // of each class the sum of its rows' weights
  double mean = 0.0;                  // regression: the weighted mean target
};
TargetSummary SummariseTargets(const RowData& rows);

// The text of `base_score` that the library estimates, by the rule of its version: 2.1 makes one
// Newton step from 0, for a single score only; 3.1 gives every class its own. The library answers
// for a data set of one row per class, which has the same average.
std::string EstimateBaseScore(const XgboostApi& api, const XgboostSettings& settings,
                              const TargetSummary& targets);

}  // namespace bregboost::detail
