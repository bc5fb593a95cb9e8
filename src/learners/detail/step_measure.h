// What the change of the scores in a step tells: how far it went, and how steep psi was.
#pragma once

#include <span>
#include <vector>

#include "bregboost/data/row_data.h"
#include "learners/detail/score_view.h"

namespace bregboost::detail {

// Metric weights m_i of RowData, which outlives it; no weights stand for 1.
class ScoreMetric {
 public:
  explicit ScoreMetric(const RowData& rows);
  ScoreMetric(const ScoreMetric&) = delete;
  ScoreMetric& operator=(const ScoreMetric&) = delete;

  std::span<const double> weights() const { return weights_; }
  double total() const { return total_; }  // M, of all workers' rows
  bool is_spread() const { return rows_->workers != nullptr; }
  void SumOverWorkers(std::span<double> sums) const { rows_->SumOverWorkers(sums); }

 private:
  const RowData* rows_;
  std::vector<double> larger_;  // of two weights that differ
  std::span<const double> weights_;
  double total_ = 0.0;
};

struct StepMeasure {
  double distance = 0.0;  // 1/(2M) sum_i m_i ||F_i - F'_i||^2
  // Norm of the gradient that Newton leaf values of rate 1 would have answered with this change,
  // dual to the score norm: sqrt(M sum_i (h_i (F_i - F'_i))^2 / m_i).
  double curved_length = 0.0;
};

// Both views and `hessian` have one layout; views have one type.
StepMeasure MeasureStep(const ScoreMetric& metric, const ScoreView& before, const ScoreView& after,
                        std::span<const float> hessian);

// The dual norm of `gradient` (class-major) after averaging over rows whose score changed by the
// same amount, that is, over the leaves of the trees in between. Not averaged if `before` has no
// rows, or if several workers have rows: then nothing is known of what trees can tell apart, and
// the whole gradient is a bound.
double LeafResidual(const ScoreMetric& metric, const ScoreView& before, const ScoreView& after,
                    std::span<const double> gradient);

}  // namespace bregboost::detail
