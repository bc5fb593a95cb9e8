// The step sizes of ABPP and the accuracy its sub-problems are solved to.
#pragma once

#include <cmath>
#include <cstdint>

namespace bregboost {

// tau_k and gamma_k; sigma_k tau_k stays constant, and mu = 0 keeps both constant.
struct StepSizes {
  double tau = 1.0;    // primal step, > 0
  double gamma = 1.0;  // dual step over primal step, > 0

  double sigma() const { return gamma * tau; }  // sigma_k = gamma_k tau_k
  StepSizes Next(double mu) const {
    const double next = gamma * (1.0 + mu * tau);                  // gamma_{k+1}
    return {.tau = tau * std::sqrt(gamma / next), .gamma = next};  // tau_{k+1}
  }
};

// The largest dual step that meets tau_0 sigma_0 L_g^2 <= delta. The paper prints L_g to the first
// power; its proof needs the square, and only the square is free of units.
double LargestDualStep(double tau, double lipschitz, double delta);

// x_{k+1} is a (delta, nu)-approximate minimiser of psi at x_k if
// psi(x_{k+1}) - min psi <= delta D_W(x_{k+1}, x_k) + nu.
struct SubproblemAccuracy {
  double delta = 0.0;
  double nu = 0.0;
};

// delta_{k+1} = nu_{k+1} = tau_0 (k + 2)^-4 for mu = 0 and tau_0 (k + 2)^-7 for mu > 0, times
// `scale`: what the O(1/k) and O(1/k^2) rates need.
SubproblemAccuracy AccuracyAt(std::int64_t k, double tau_0, double mu, double scale);

}  // namespace bregboost
