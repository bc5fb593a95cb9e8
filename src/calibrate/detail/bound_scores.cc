#include "calibrate/detail/bound_scores.h"

#include "bregboost/calibrate/temperature.h"
#include "calibrate/detail/class_biases.h"
#include "calibrate/detail/parallel_sort.h"
#include "calibrate/detail/score_checks.h"

namespace bregboost::detail {
namespace {

struct ScoredRow {
  double score = 0.0;
  std::uint32_t row = 0;
};

std::vector<ScoredRow> Sorted(std::span<const double> scores) {
  std::vector<ScoredRow> order(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    order[i] = {.score = scores[i], .row = static_cast<std::uint32_t>(i)};
  }
  const auto lower = [](const ScoredRow& a, const ScoredRow& b) {
    return a.score != b.score ? a.score < b.score : a.row < b.row;
  };
  ParallelSort(
      order, [](const ScoredRow& row) { return row.score; }, lower);
  return order;
}

}  // namespace

BoundScores::BoundScores(std::span<const double> all_scores, const RowData& all_rows)
    : scores(all_scores), rows(&all_rows), temperature(FitTemperature(all_scores, all_rows)) {
  if (all_rows.task() != Task::kBinary) return;
  ascending.reserve(all_scores.size());
  sorted_scores.reserve(all_scores.size());
  for (const auto& [score, row] : Sorted(all_scores)) {
    ascending.push_back(row);
    sorted_scores.push_back(score);
  }
}

std::vector<double> BoundScores::BiasesAt(double at_temperature) const {
  std::call_once(fitted_, [&] { biases_ = FitClassBiases(scores, *rows, temperature); });
  std::vector<double> scaled = biases_;
  for (double& bias : scaled) bias *= temperature / at_temperature;
  return scaled;
}

std::vector<double> BoundScores::Scaled(double at_temperature) const {
  std::vector<double> scaled(scores.size());
  for (std::size_t j = 0; j < scores.size(); ++j) scaled[j] = scores[j] / at_temperature;
  return scaled;
}

}  // namespace bregboost::detail
