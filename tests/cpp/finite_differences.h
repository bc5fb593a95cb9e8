// Derivatives by differences, against those that a function of scores reports.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "bregboost/problem/constraint_set.h"
#include "random_problems.h"

namespace bregboost::test {

// Returns the value; adds the gradient and, unless it is empty, the diagonal hessian bound.
using Function = std::function<double(std::span<const double> scores, std::span<double> gradient,
                                      std::span<double> hessian)>;

inline double ValueAt(const Function& function, const std::vector<double>& scores) {
  std::vector<double> gradient(scores.size(), 0.0);
  return function(scores, gradient, {});
}

inline std::vector<double> GradientAt(const Function& function, const std::vector<double>& scores) {
  std::vector<double> gradient(scores.size(), 0.0);
  function(scores, gradient, {});
  return gradient;
}

inline std::vector<double> Moved(std::vector<double> scores, const std::vector<double>& direction,
                                 double step) {
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += step * direction[i];
  return scores;
}

// <y, g> as a function of the scores.
inline Function Lagrangian(const ConstraintSet& set, const std::vector<double>& multipliers) {
  return [&set, multipliers](std::span<const double> scores, std::span<double> gradient,
                             std::span<double> hessian) {
    return set.AddLagrangian(scores, multipliers, gradient, hessian);
  };
}

// g_j alone.
inline Function OneConstraint(const ConstraintSet& set, std::size_t j) {
  std::vector<double> multipliers(set.size(), 0.0);
  multipliers[j] = 1.0;
  return Lagrangian(set, multipliers);
}

// The gradient agrees with central differences to 1e-5 of its largest entry, and is added to what
// is there.
inline void ExpectGradient(const Function& function, const std::vector<double>& scores) {
  constexpr double kStep = 1e-5, kBefore = 3.0;
  std::vector<double> gradient(scores.size(), kBefore);
  function(scores, gradient, {});
  double scale = 0.0, worst = 0.0;
  std::vector<double> moved = scores;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    moved[i] = scores[i] + kStep;
    const double above = ValueAt(function, moved);
    moved[i] = scores[i] - kStep;
    const double below = ValueAt(function, moved);
    moved[i] = scores[i];
    const double difference = (above - below) / (2.0 * kStep);
    scale = std::max(scale, std::abs(difference));
    worst = std::max(worst, std::abs(gradient[i] - kBefore - difference));
  }
  EXPECT_GT(scale, 1e-6) << "a constant tests nothing";
  EXPECT_LE(worst, 1e-5 * scale);
}

// D is non-negative and v'Hv <= v'Dv, row by row: no row's part of the function depends on another
// row's scores. Returns the largest of v'Hv / v'Dv.
inline double ExpectHessianBound(const Function& function, const std::vector<double>& scores,
                                 std::size_t num_rows, std::uint64_t seed) {
  constexpr double kStep = 1e-5;
  std::vector<double> gradient(scores.size(), 0.0), diagonal(scores.size(), 0.0);
  function(scores, gradient, diagonal);
  EXPECT_EQ(gradient, GradientAt(function, scores)) << "the hessian changes the gradient";
  const double scale = *std::max_element(diagonal.begin(), diagonal.end());
  EXPECT_GE(*std::min_element(diagonal.begin(), diagonal.end()), 0.0);
  double tightest = 0.0;
  Random random(seed);
  for (int draw = 0; draw < 5; ++draw) {
    const std::vector<double> v = RandomNormal(scores.size(), 1.0, random);
    const std::vector<double> above = GradientAt(function, Moved(scores, v, kStep));
    const std::vector<double> below = GradientAt(function, Moved(scores, v, -kStep));
    for (std::size_t row = 0; row < num_rows; ++row) {
      double curvature = 0.0, bound = 0.0;
      for (std::size_t i = row; i < scores.size(); i += num_rows) {
        curvature += v[i] * (above[i] - below[i]) / (2.0 * kStep);
        bound += v[i] * v[i] * diagonal[i];
      }
      EXPECT_LE(curvature, bound + 1e-6 * scale) << "row " << row;
      if (bound > 1e-3 * scale) tightest = std::max(tightest, curvature / bound);
    }
  }
  return tightest;
}

}  // namespace bregboost::test
