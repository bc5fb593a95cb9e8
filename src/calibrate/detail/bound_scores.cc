#include "calibrate/detail/bound_scores.h"

#include "bregboost/calibrate/temperature.h"
#include "calibrate/detail/parallel_sort.h"
#include "calibrate/detail/score_checks.h"

namespace bregboost::detail {
namespace {

struct ScoredRow {
  double score = 0.0;
  std::uint32_t row = 0;
};

std::vector<std::uint32_t> RowsByScore(std::span<const double> scores) {
  std::vector<ScoredRow> order(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    order[i] = {.score = scores[i], .row = static_cast<std::uint32_t>(i)};
  }
  ParallelSort(order, [](const ScoredRow& a, const ScoredRow& b) {
    return a.score != b.score ? a.score < b.score : a.row < b.row;
  });
  std::vector<std::uint32_t> rows(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) rows[i] = order[i].row;
  return rows;
}

}  // namespace

BoundScores::BoundScores(std::span<const double> all_scores, const RowData& all_rows)
    : scores(all_scores), rows(&all_rows), temperature(FitTemperature(all_scores, all_rows)) {
  if (all_rows.task() == Task::kBinary) ascending = RowsByScore(all_scores);
}

std::vector<double> BoundScores::Scaled(double at_temperature) const {
  std::vector<double> scaled(scores.size());
  for (std::size_t j = 0; j < scores.size(); ++j) scaled[j] = scores[j] / at_temperature;
  return scaled;
}

}  // namespace bregboost::detail
