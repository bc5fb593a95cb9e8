#include "pipeline/detail/fit_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "bregboost/data/folds.h"
#include "bregboost/problem/constraint_error.h"
#include "pipeline/detail/fit_defaults.h"

namespace bregboost::detail {
namespace {

// Rows of a table by their place in another that it was taken from.
Places Through(const Places& places, const Places& chosen) {
  Places through;
  for (const std::int32_t row : chosen) through.push_back(places[static_cast<std::size_t>(row)]);
  return through;
}

// The cells that some limit's rates are made of.
std::vector<bool> ConstrainedCells(const RateProblem& problem) {
  const CompiledConstraints& compiled = problem.compiled();
  std::vector<bool> constrained(compiled.cells.cells.size(), false);
  for (std::size_t j = 0; j < problem.num_limits(); ++j) {
    using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
    for (Matrix::InnerIterator entry(compiled.matrix, static_cast<Eigen::Index>(j)); entry;
         ++entry) {
      constrained[static_cast<std::size_t>(entry.col()) / compiled.slots.size()] = true;
    }
  }
  return constrained;
}

Validation ChooseValidation(const RateProblem& problem, bool own_rows, const FitOptions& options) {
  const Validation wanted = options.validation;
  if (own_rows) {
    if (wanted == Validation::kByCells || wanted == Validation::kOwnRows) {
      return Validation::kOwnRows;
    }
    throw std::invalid_argument(
        fmt::format("validation: {}; allowed with evaluation rows of your own: by_cells, own_rows",
                    Name(wanted)));
  }
  if (wanted == Validation::kOwnRows) {
    throw std::invalid_argument(
        "validation: own_rows; allowed without evaluation rows: by_cells, folds, hold_out");
  }
  if (problem.rows().workers != nullptr) {
    if (wanted != Validation::kFolds) return Validation::kHoldOut;
    throw std::invalid_argument(
        "validation: folds; allowed where workers have the rows between them: by_cells, hold_out, "
        "own_rows");
  }
  if (wanted != Validation::kByCells) return wanted;
  const std::vector<bool> constrained = ConstrainedCells(problem);
  const std::vector<Cell>& cells = problem.compiled().cells.cells;
  double smallest = static_cast<double>(problem.rows().num_rows());
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (constrained[c]) smallest = std::min(smallest, static_cast<double>(cells[c].rows));
  }
  return options.hold_out_share * smallest >= static_cast<double>(options.hold_out_rows)
             ? Validation::kHoldOut
             : Validation::kFolds;
}

// Rows of the user's own in the codes of the training data; errors say whose rows they are about.
RowData OwnRows(const RowData& rows, const RowData& data, const char* whose) {
  try {
    if (rows.task() != data.task() &&
        (rows.task() == Task::kRegression || data.task() == Task::kRegression)) {
      throw std::invalid_argument("targets: numbers in one of the two; allowed: the same kind");
    }
    RowData recoded = RecodeLike(rows, data);
    Validate(recoded);
    return recoded;
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{} rows: {}", whose, error.what()));
  }
}

}  // namespace

Places PlacesWhere(std::span<const std::uint8_t> drawn, std::uint8_t wanted) {
  Places places;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    if (drawn[i] == wanted) places.push_back(static_cast<std::int32_t>(i));
  }
  return places;
}

FitPart::FitPart(RowData part_rows, Places part_in_data, const std::vector<Constraint>& constraints,
                 const RateObjective& rate_objective, const LossOptions& loss)
    : rows(std::move(part_rows)),
      in_data(std::move(part_in_data)),
      problem(constraints, rate_objective, rows, loss),
      objective(rows, ObjectiveOptions{.loss = loss}) {}

FitSplit::FitSplit(const RowData& data, const RowData* evaluation, const RowData* certification,
                   const std::vector<Constraint>& constraints, const FitOptions& options)
    : constraints_(constraints),
      objective_(ObjectiveOf(options, data.task())),
      loss_(LossOf(options.loss, data.task())) {
  const RateProblem whole(constraints_, objective_, data, loss_);
  for (std::size_t c = 0; c < constraints_.size(); ++c) {
    num_groups_.push_back(whole.compiled().constraints[c].rates.size());
  }
  const std::vector<std::uint8_t> drawn =
      DrawShare(whole.compiled().cells.cell_of_row, options.certify, options.seed);
  reserved_in_data_ = PlacesWhere(drawn, 1);
  if (certification != nullptr) {
    if (!reserved_in_data_.empty()) {
      throw std::invalid_argument(fmt::format(
          "certify: {}; allowed with certification rows of your own: 0", options.certify));
    }
    reserved_rows_ = OwnRows(*certification, data, "certification");
  } else {
    reserved_rows_ = TakeRows(data, reserved_in_data_);
  }
  reserves_ = data.SumOverWorkers(static_cast<double>(reserved_rows_.num_rows())) > 0.0;
  Places kept = PlacesWhere(drawn, 0);
  RowData kept_rows = TakeRows(data, kept);
  all_ = MakePart(std::move(kept_rows), std::move(kept));
  validation_ = ChooseValidation(all_->problem, evaluation != nullptr, options);
  if (validation_ == Validation::kFolds) CheckFolds();
  if (validation_ == Validation::kHoldOut) DrawHoldOut(options);
  if (validation_ == Validation::kOwnRows) {
    unseen_ = MakePart(OwnRows(*evaluation, data, "evaluation"), {});
  }
  if (holds_out()) CheckAlike();
}

std::unique_ptr<FitPart> FitSplit::MakePart(RowData rows, Places in_data) const {
  return std::make_unique<FitPart>(std::move(rows), std::move(in_data), constraints_, objective_,
                                   loss_);
}

void FitSplit::DrawHoldOut(const FitOptions& options) {
  const std::vector<std::uint8_t> drawn = DrawShare(all_->problem.compiled().cells.cell_of_row,
                                                    options.hold_out_share, options.seed + 1);
  const Places unseen = PlacesWhere(drawn, 1), training = PlacesWhere(drawn, 0);
  unseen_ = MakePart(TakeRows(all_->rows, unseen), Through(all_->in_data, unseen));
  training_ = MakePart(TakeRows(all_->rows, training), Through(all_->in_data, training));
}

// Folds train on the rest of the rows: a rate over a single row would be over none in one of them.
void FitSplit::CheckFolds() const {
  const CompiledConstraints& compiled = all_->problem.compiled();
  for (std::size_t c = 0; c < constraints_.size(); ++c) {
    for (const MeasuredRate& rate : compiled.constraints[c].rates) {
      std::size_t count = 0;
      const SparseRow& row = rate.denominator.entries.empty() ? rate.value : rate.denominator;
      for (const auto& [column, coefficient] : row.entries) {
        count += compiled.cells.cells[column / compiled.slots.size()].rows;
      }
      if (count != 1) continue;
      throw ConstraintError(ConstraintErrorCode::kEmptySubset,
                            fmt::format("one row to train on{}{}; allowed with folds: 2 or more",
                                        rate.group.empty() ? "" : " in ", rate.group),
                            ToText(constraints_[c]));
    }
  }
}

// Multipliers belong to the limits of both sides, so both compare the same groups.
void FitSplit::CheckAlike() const {
  const FitPart& trained = training_ ? *training_ : *all_;
  const auto missing = [&](const CompiledConstraint& from, const CompiledConstraint& in,
                           const char* whose) {
    for (const MeasuredRate& rate : from.rates) {
      const bool found =
          std::any_of(in.rates.begin(), in.rates.end(),
                      [&](const MeasuredRate& other) { return other.group == rate.group; });
      if (found) continue;
      throw ConstraintError(
          ConstraintErrorCode::kEmptySubset,
          fmt::format("no {} rows of group {}; allowed: every group on both sides", whose,
                      rate.group),
          ToText(from.source));
    }
  };
  for (std::size_t c = 0; c < constraints_.size(); ++c) {
    const CompiledConstraint& of_training = trained.problem.compiled().constraints[c];
    const CompiledConstraint& of_unseen = unseen_->problem.compiled().constraints[c];
    missing(of_training, of_unseen, "unseen");
    missing(of_unseen, of_training, "training");
  }
}

}  // namespace bregboost::detail
