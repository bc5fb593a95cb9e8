#include "pipeline/detail/row_outcomes.h"

#include <algorithm>
#include <cmath>

namespace bregboost::detail {
namespace {

double NumericLoss(double residual, const LossOptions& loss) {
  if (loss.kind != LossKind::kHuber) return residual * residual;
  const double size = std::abs(residual);
  return size <= loss.huber_delta ? 0.5 * residual * residual
                                  : loss.huber_delta * (size - 0.5 * loss.huber_delta);
}

// -log p of class `label` when two classes are 0 and the log-odds.
double BinaryLoss(double score, std::int32_t label) {
  const double towards = label == 1 ? score : -score;
  return std::max(0.0, -towards) + std::log1p(std::exp(-std::abs(towards)));
}

}  // namespace

Predictions OutcomesOf(std::span<const double> scores, const RowData& rows,
                       const ModelAdjustment& adjustment, const LossOptions& loss) {
  const std::size_t n = rows.num_rows();
  const std::size_t num_scores = rows.num_scores();
  const auto offset = [&](std::size_t k) {
    return adjustment.offsets.empty() ? 0.0 : adjustment.offsets[k];
  };
  Predictions outcomes;
  outcomes.losses.resize(n);
  if (rows.task() == Task::kRegression) {
    for (std::size_t i = 0; i < n; ++i) {
      outcomes.losses[i] = NumericLoss(scores[i] - rows.targets[i], loss);
    }
    return outcomes;
  }
  outcomes.classes.resize(n);
  std::vector<double> score(num_scores);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < num_scores; ++k) {
      score[k] = scores[k * n + i] / adjustment.temperature + offset(k);
    }
    const auto label = static_cast<std::size_t>(rows.labels.codes[i]);
    if (num_scores == 1) {
      outcomes.losses[i] = BinaryLoss(score[0], rows.labels.codes[i]);
      outcomes.classes[i] = score[0] > 0.0 ? 1 : 0;
      continue;
    }
    const double largest = *std::max_element(score.begin(), score.end());
    double normaliser = 0.0;
    for (const double s : score) normaliser += std::exp(s - largest);
    outcomes.losses[i] = largest + std::log(normaliser) - score[label];
    std::size_t best = 0;
    for (std::size_t k = 1; k < num_scores; ++k) {
      if (score[k] > score[best]) best = k;
    }
    outcomes.classes[i] = static_cast<std::int32_t>(best);
  }
  return outcomes;
}

std::vector<double> AdjustedScores(std::span<const double> scores, std::size_t num_rows,
                                   const ModelAdjustment& adjustment) {
  std::vector<double> adjusted(scores.begin(), scores.end());
  for (std::size_t i = 0; i < adjusted.size(); ++i) {
    adjusted[i] /= adjustment.temperature;
    if (!adjustment.offsets.empty()) adjusted[i] += adjustment.offsets[i / num_rows];
  }
  return adjusted;
}

}  // namespace bregboost::detail
