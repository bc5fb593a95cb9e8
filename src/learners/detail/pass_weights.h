// Weights of the rows as the passes over them need them, made once.
#pragma once

#include <array>
#include <tuple>
#include <vector>

#include "bregboost/data/row_data.h"

namespace bregboost::detail {

struct PassWeights {
  explicit PassWeights(const RowData& rows)
      : loss(rows.weights.begin(), rows.weights.end()),
        rate(rows.rate_weights.begin(), rows.rate_weights.end()),
        alike(rows.rate_weights.empty()) {
    for (std::size_t i = 0; i < rows.num_rows(); ++i) {
      loss_total += rows.weight(i);
      rate_total += rows.rate_weight(i);
      metric_total += rows.metric_weight(i);
      counted += rows.metric_weight(i) > 0.0 ? 1.0 : 0.0;
      if (!alike) metric.push_back(static_cast<float>(rows.metric_weight(i)));
    }
    if (rows.workers == nullptr) return;
    std::array totals = {loss_total, rate_total, metric_total, counted};
    rows.SumOverWorkers(totals);
    std::tie(loss_total, rate_total, metric_total, counted) = std::tuple_cat(totals);
  }

  // Null: all 1.
  const float* loss_weights() const { return loss.empty() ? nullptr : loss.data(); }
  const float* rate_weights() const { return alike ? loss_weights() : rate.data(); }
  const float* metric_weights() const { return alike ? loss_weights() : metric.data(); }

  std::vector<float> loss;
  std::vector<float> rate;
  std::vector<float> metric;
  bool alike;  // rows weigh the same in losses and rates
  // Of the rows of all workers.
  double loss_total = 0.0;
  double rate_total = 0.0;
  double metric_total = 0.0;
  // Rows of some weight. Those that are masked by a weight of 0 must leave the scale of
  // derivatives, hence the trees, as if they were not there.
  double counted = 0.0;
};

}  // namespace bregboost::detail
