#include "learners/detail/cost_losses.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bregboost::detail {

CostLosses::CostLosses(const Objective& objective, const CellTable& cells,
                       std::span<const double> costs)
    : objective_(objective), cells_(cells), costs_(costs.begin(), costs.end()) {
  for (const Cell& cell : cells.cells) total_weight_ += cell.rate_weight;
}

ConstraintValues CostLosses::Evaluate(std::span<const double> scores) const {
  const double value = AddCosts(scores, 1.0, {}) - objective_.Evaluate(scores);
  return {.surrogate = {value}, .exact = {value}, .worst_exact_violation = 0.0};
}

double CostLosses::AddLagrangian(std::span<const double> scores,
                                 std::span<const double> multipliers, std::span<double> gradient,
                                 std::span<double> hessian) const {
  if (!hessian.empty()) throw std::logic_error("the costs give no hessian");
  const double factor = multipliers.front();
  return AddCosts(scores, factor, gradient) +
         objective_.AddDerivatives(scores, -factor, gradient, {});
}

double CostLosses::AddCosts(std::span<const double> scores, double factor,
                            std::span<double> gradient) const {
  const RowData& rows = objective_.rows();
  const std::size_t n = rows.num_rows();
  const std::size_t num_scores = rows.num_scores();
  const std::size_t classes = std::max<std::size_t>(num_scores, 2);
  std::vector<double> score(classes, 0.0);
  double total = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double weight = factor * rows.rate_weight(i) / total_weight_;
    if (weight == 0.0) continue;
    // Two classes are a softmax of 0 and the log-odds.
    for (std::size_t k = 0; k < num_scores; ++k) {
      score[num_scores == 1 ? 1 : k] = scores[k * n + i];
    }
    const double largest = *std::max_element(score.begin(), score.end());
    double normaliser = 0.0;
    for (const double s : score) normaliser += std::exp(s - largest);
    const double log_normaliser = largest + std::log(normaliser);
    const double* cost = costs_.data() + cells_.cell_of_row[i] * classes;
    double sum = 0.0;
    for (std::size_t k = 0; k < classes; ++k) {
      sum += cost[k];
      total += weight * cost[k] * (log_normaliser - score[k]);
    }
    if (gradient.empty()) continue;
    for (std::size_t k = 0; k < num_scores; ++k) {
      const std::size_t c = num_scores == 1 ? 1 : k;
      const double p = std::exp(score[c] - log_normaliser);
      gradient[k * n + i] += weight * (sum * p - cost[c]);
    }
  }
  return total;
}

}  // namespace bregboost::detail
