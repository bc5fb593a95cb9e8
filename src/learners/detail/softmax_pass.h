// The fused passes for K > 2 classes and cross-entropies. A row is charged v_k for missing class k:
//   sum_k v_k (-log p_k),   gradient V p_k - v_k,   hessian at most h p_k (1 - p_k),   V = sum_k
//   v_k.
// 1 - p_k is computed apart from p_k, so that confident rows keep their digits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "learners/detail/fused_rows.h"
#include "learners/detail/score_view.h"

namespace bregboost::detail {

struct SoftmaxRows {
  const ScoreView* scores = nullptr;
  CellIds cells;
};

// Charges by cell, and the weights of the rows they belong to (null: all 1).
struct ChargeTable {
  std::size_t num_cells = 0;
  std::size_t stride = 0;          // from class to class, kFewestTableEntries or more
  const float* charges = nullptr;  // v_k at [k * stride + cell]
  const float* totals = nullptr;   // V, as long as a class
  const float* bends = nullptr;    // h, likewise
  const float* weights = nullptr;
};

// Overwrites gradient and hessian, which have the layout of the scores, for the rows begin .. end,
// at least kFewestFusedRows of them. The tables, at least one, are added up; their cells are alike.
void DeriveCharges(const SoftmaxRows& rows, std::span<const ChargeTable> tables,
                   const PullTerms& pulls, std::size_t begin, std::size_t end, float* gradient,
                   float* hessian);

// Classes by cell whose losses are summed up; no baselines: none are.
struct SoftmaxTargets {
  std::span<const std::int32_t> labels;
  std::span<const std::int32_t> baselines;
};

// Sums of a cell: losses of missing the label and the baseline, then the weight of the rows
// predicted 0 .. K - 1; NaN where a row has a NaN score.
constexpr std::size_t kSumOfLabelLoss = 0;
constexpr std::size_t kSumOfBaselineLoss = 1;
constexpr std::size_t kFirstPredictedSum = 2;
constexpr std::size_t NumSoftmaxSums(std::size_t num_classes) {
  return kFirstPredictedSum + num_classes;
}

// Adds the rows begin .. end to the sums of their cells; `weights` null: all 1.
void AccumulateSoftmax(const SoftmaxRows& rows, const SoftmaxTargets& targets,
                       const double* weights, std::size_t begin, std::size_t end,
                       std::span<double> sums);

}  // namespace bregboost::detail
