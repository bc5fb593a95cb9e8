#include "problem/detail/input_checks.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace bregboost::detail {
namespace {

void CheckSize(const char* field, std::size_t size, std::size_t allowed, const char* what) {
  if (size == allowed) return;
  throw std::invalid_argument(
      fmt::format("{}: {} values; allowed: {}, one for each {}", field, size, allowed, what));
}

void CheckRowsAndScores(const char* field, const RowData& rows, std::size_t size) {
  const bool several = rows.num_scores() > 1;
  CheckSize(field, size, rows.num_rows() * rows.num_scores(), several ? "row and class" : "row");
}

}  // namespace

void CheckLossFits(const RowData& rows, const LossOptions& options) {
  const bool regression = rows.task() == Task::kRegression;
  if (regression == (options.kind != LossKind::kCrossEntropy)) return;
  throw std::invalid_argument(fmt::format("loss: '{}' on a {}; allowed: {}", Name(options.kind),
                                          regression ? "numeric target" : "class label",
                                          regression ? "squared, huber" : "cross_entropy"));
}

void CheckScores(const RowData& rows, std::span<const double> scores) {
  CheckRowsAndScores("scores", rows, scores.size());
}

void CheckDerivatives(const RowData& rows, std::span<const double> scores,
                      std::span<const double> gradient, std::span<const double> hessian) {
  CheckScores(rows, scores);
  CheckRowsAndScores("gradient", rows, gradient.size());
  if (!hessian.empty()) CheckRowsAndScores("hessian", rows, hessian.size());
}

void CheckMultipliers(std::size_t num_constraints, std::span<const double> multipliers) {
  CheckSize("multipliers", multipliers.size(), num_constraints, "constraint row");
}

}  // namespace bregboost::detail
