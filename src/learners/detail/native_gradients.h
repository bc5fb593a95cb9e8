// The derivatives that LightGBM and XGBoost compute themselves, in their arithmetic and order of
// operations: an unconstrained training makes the stock library's trees, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "learners/detail/score_view.h"

namespace bregboost::detail {

// What the libraries know about the rows, both with targets and weights as float32. Spans belong to
// the caller.
struct NativeRows {
  std::span<const std::int32_t> labels;  // class codes; empty for a numeric target
  std::vector<float> targets;
  std::span<const float> weights;       // empty: all 1
  double softmax_hessian_factor = 2.0;  // K / (K - 1) in LightGBM, 2 in XGBoost
};

// Doubles are LightGBM's scores, floats XGBoost's. One score per row and labels: the log-loss;
// several: cross-entropy of the softmax; no labels: r^2 / 2.
void NativeDerivatives(const NativeRows& rows, const ScoreView& scores, std::span<float> gradient,
                       std::span<float> hessian);

}  // namespace bregboost::detail
