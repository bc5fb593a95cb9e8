#include "bregboost/solve/step_sizes.h"

namespace bregboost {

double LargestDualStep(double tau, double lipschitz, double delta) {
  return delta / (tau * lipschitz * lipschitz);
}

SubproblemAccuracy AccuracyAt(std::int64_t k, double tau_0, double mu, double scale) {
  const double power = mu > 0.0 ? -7.0 : -4.0;
  const double error = scale * tau_0 * std::pow(static_cast<double>(k) + 2.0, power);
  return {.delta = error, .nu = error};
}

}  // namespace bregboost
