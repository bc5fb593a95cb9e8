// What a limit costs, bound by bound: the same problem with one constraint's bound swept over a
// list, each point an estimate on unseen rows.
//
// Points share their trainings. Where offsets alone hold the limits there is one training, and
// every point is a calibration of it. Else a few bounds are trained, each from the multipliers of
// the one before it; every iterate of every training is judged for every bound, and the best is
// calibrated.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bregboost/model/model_adjustment.h"
#include "bregboost/pipeline/fit.h"

namespace bregboost {

struct FrontierOptions {
  std::size_t constraint = 0;  // whose bound is swept
  std::vector<double> bounds;  // one point each; finite, allowed by the constraint
  std::size_t trainings = 2;   // at most, where training is needed; >= 1
};

struct FrontierPoint {
  double bound = 0.0;
  double objective = 0.0;                 // as the user named it
  std::vector<Measurement> measurements;  // of all constraints, the swept one with this bound
  double total_violation = 0.0;
  ModelAdjustment adjustment;  // of the scores that the point is about
  double trained_for = 0.0;    // the bound of the training that it comes from
  std::int64_t steps = 0;      // of that training
  // Another point holds a tighter or equal bound with an objective at least as good, or this one
  // holds no bound: not worth choosing.
  bool dominated = false;
};

struct Frontier {
  std::vector<FrontierPoint> points;  // in the order of the bounds given
  std::size_t trainings = 0;          // that were made
};

// Arguments as for AutoFit; nothing is set aside for certification, and options.deploy has no say.
Frontier SweepLightGbm(const LightGbmDataset& data, const RowData& rows,
                       const std::vector<Constraint>& constraints, const BoostedOptions& boosting,
                       const FitOptions& options, const FrontierOptions& sweep,
                       const SolveHooks& hooks = {});
Frontier SweepXgboost(const XgboostDataset& data, const RowData& rows,
                      const std::vector<Constraint>& constraints, const BoostedOptions& boosting,
                      const FitOptions& options, const FrontierOptions& sweep,
                      const SolveHooks& hooks = {});
Frontier SweepLinear(const FeatureMatrix& features, const RowData& rows,
                     const std::vector<Constraint>& constraints, const LinearOptions& linear,
                     const FitOptions& options, const FrontierOptions& sweep,
                     const SolveHooks& hooks = {});

}  // namespace bregboost
