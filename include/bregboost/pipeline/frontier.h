// What limits cost: the same problem with one constraint's bound swept over a list, or with the
// weight rho of all violations; each point an estimate on unseen rows.
//
// Points share their trainings. Where offsets alone hold the limits there is one training, and
// every point is a calibration of it. Else a few of the settings are trained, each from the
// multipliers of the one before it; every iterate of every training is judged for every setting,
// and the best is calibrated.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "bregboost/model/model_adjustment.h"
#include "bregboost/pipeline/fit.h"

namespace bregboost {

struct FrontierOptions {
  std::size_t constraint = 0;  // whose bound is swept
  // One point each; one of the two lists is empty.
  std::vector<double> bounds = {};  // finite, allowed by the constraint
  std::vector<double> rhos = {};    // finite, at least 0
  std::size_t trainings = 2;        // at most, where training is needed; >= 1
};

struct FrontierPoint {
  double bound = 0.0;  // of the swept constraint; of the first, if rho is swept
  double rho = 0.0;
  double objective = 0.0;                      // as the user named it
  std::vector<Measurement> measurements;       // of all constraints, the swept one with this bound
  std::vector<std::vector<RateOnRows>> rates;  // of `measurements`
  // What each bound costs here; none where the point is a training of its own and not a
  // calibration, since the multipliers of a shared training are not this point's.
  std::vector<Price> prices;
  double total_violation = 0.0;
  ModelAdjustment adjustment;  // of the scores that the point is about
  double trained_for = 0.0;    // the bound, or rho, of the training that it comes from
  std::int64_t steps = 0;      // of that training, up to the iterate
  // Not worth choosing. Of bounds: another point holds a tighter or equal one with an objective at
  // least as good, or this one holds none. Of rhos: another violates no more, with an objective at
  // least as good.
  bool dominated = false;
};

struct Frontier {
  std::vector<FrontierPoint> points;  // in the order given
  std::size_t trainings = 0;          // that were made
  std::size_t constraint = 0;         // whose bound is swept
  bool sweeps_rho = false;            // in place of a bound
};

// What decides whether a point is worth choosing.
struct PointValue {
  double cost = 0.0;  // what the objective makes small
  double violation = 0.0;
  double tightness = 0.0;  // larger for a tighter bound; of rhos it has no say
};
// FrontierPoint::dominated of each; of points that are alike the first is worth choosing.
std::vector<bool> FindDominated(std::span<const PointValue> points, bool sweeps_rho);

// Arguments as for AutoFit; no rows are used for certification, and options.deploy has no say.
Frontier SweepLightGbm(const FitData<LightGbmDataset>& data,
                       const std::vector<Constraint>& constraints, const BoostedOptions& boosting,
                       const FitOptions& options, const FrontierOptions& sweep,
                       const SolveHooks& hooks = {});
Frontier SweepXgboost(const FitData<XgboostDataset>& data,
                      const std::vector<Constraint>& constraints, const BoostedOptions& boosting,
                      const FitOptions& options, const FrontierOptions& sweep,
                      const SolveHooks& hooks = {});
Frontier SweepLinear(const FitData<FeatureMatrix>& data, const std::vector<Constraint>& constraints,
                     const LinearOptions& linear, const FitOptions& options,
                     const FrontierOptions& sweep, const SolveHooks& hooks = {});

}  // namespace bregboost
