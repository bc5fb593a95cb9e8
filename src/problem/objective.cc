#include "bregboost/problem/objective.h"

#include <algorithm>
#include <stdexcept>

#include "problem/detail/event_kernel.h"
#include "problem/detail/input_checks.h"

namespace bregboost {
namespace {

// The layout's slots: the same as those of constraints, of which only the loss is used.
std::vector<Slot> LossSlots(const RowData& rows) {
  if (rows.task() != Task::kBinary) return {{.kind = SlotKind::kLoss, .class_code = -1}};
  return {{.kind = SlotKind::kMissClass, .class_code = 0},
          {.kind = SlotKind::kMissClass, .class_code = 1},
          {.kind = SlotKind::kLoss, .class_code = -1}};
}

// f = sum over cells of coefficient * (weighted loss sum of the cell).
std::vector<double> CellCoefficients(const RowData& rows, const CellTable& cells,
                                     ObjectiveWeighting weighting) {
  std::vector<double> weight(cells.cells.size() + 1, 0.0);  // the last: of all rows
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    weight[cells.cell_of_row[i]] += rows.weight(i);
    weight.back() += rows.weight(i);
  }
  rows.SumOverWorkers(weight);
  const double total = weight.back();
  weight.pop_back();
  if (weighting == ObjectiveWeighting::kRows) {
    return std::vector<double>(weight.size(), 1.0 / total);
  }
  const auto classes = std::count_if(weight.begin(), weight.end(), [](double w) { return w > 0; });
  std::vector<double> coefficients(weight.size(), 0.0);
  for (std::size_t c = 0; c < weight.size(); ++c) {
    if (weight[c] > 0.0) coefficients[c] = 1.0 / (static_cast<double>(classes) * weight[c]);
  }
  return coefficients;
}

}  // namespace

Objective::Objective(const RowData& rows, const ObjectiveOptions& options)
    : rows_(&rows), options_(options) {
  Validate(rows);
  Validate(options.loss);
  detail::CheckLossFits(rows, options.loss);
  if (options.weighting == ObjectiveWeighting::kClassBalanced && rows.task() == Task::kRegression) {
    throw std::invalid_argument(
        "weighting: 'class balanced' on a numeric target; allowed: by rows, or class labels");
  }
  cells_ = std::make_unique<CellTable>(MakeCells(rows, {}, /*with_baseline=*/false));
  detail::EventLayout layout{.cells = cells_.get(),
                             .slots = LossSlots(rows),
                             .used = {},
                             .row_weights = rows.weights,
                             .targets = rows.targets,
                             .num_classes = rows.labels.levels.size(),
                             .surrogate = {},
                             .loss = options.loss};
  for (const Slot& slot : layout.slots) layout.used.push_back(slot.kind == SlotKind::kLoss);
  coefficients_.assign(layout.num_sums(), 0.0);
  const std::vector<double> by_cell = CellCoefficients(rows, *cells_, options.weighting);
  for (std::size_t c = 0; c < by_cell.size(); ++c) {
    coefficients_[(c + 1) * layout.slots.size() - 1] = by_cell[c];  // the loss is the last slot
  }
  kernel_ = detail::MakeEventKernel(std::move(layout));
}

Objective::~Objective() = default;
Objective::Objective(Objective&&) noexcept = default;
Objective& Objective::operator=(Objective&&) noexcept = default;

double Objective::Evaluate(std::span<const double> scores) const {
  detail::CheckScores(*rows_, scores);
  const detail::EventSums sums = kernel_->Accumulate(scores);
  double total = 0.0;
  for (std::size_t j = 0; j < coefficients_.size(); ++j) {
    total += coefficients_[j] * sums.surrogate[j];
  }
  return rows_->SumOverWorkers(total);
}

double Objective::AddDerivatives(std::span<const double> scores, double scale,
                                 std::span<double> gradient, std::span<double> hessian) const {
  detail::CheckDerivatives(*rows_, scores, gradient, hessian);
  std::vector<double> scaled = coefficients_;
  for (double& coefficient : scaled) coefficient *= scale;
  return rows_->SumOverWorkers(
      kernel_->AddDerivatives(scores, scaled, gradient, hessian, /*want_value=*/true));
}

std::vector<double> Objective::LossCoefficients() const {
  const std::size_t num_slots = coefficients_.size() / cells_->cells.size();
  std::vector<double> by_class(std::max<std::size_t>(rows_->labels.levels.size(), 1), 0.0);
  for (std::size_t c = 0; c < cells_->cells.size(); ++c) {
    const auto label = static_cast<std::size_t>(std::max(cells_->cells[c].label, 0));
    by_class[label] = coefficients_[(c + 1) * num_slots - 1];
  }
  return by_class;
}

}  // namespace bregboost
