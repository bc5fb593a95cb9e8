#include "bregboost/calibrate/diagnosis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "calibrate/detail/best_decision.h"
#include "calibrate/detail/bound_scores.h"
#include "calibrate/detail/merit_tracker.h"
#include "detail/parallel.h"

namespace bregboost {
namespace {

using detail::Goal;
using RowMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

double ExcessOf(const Constraint& constraint, double value) {
  return constraint.relation == Relation::kAtMost ? value - constraint.bound
                                                  : constraint.bound - value;
}

double LargestViolation(const std::vector<Measurement>& measured, std::size_t left_out) {
  double largest = 0.0;
  for (std::size_t c = 0; c < measured.size(); ++c) {
    if (c != left_out) largest = std::max(largest, measured[c].violation);
  }
  return largest;
}

// What a row of mean weight in this column's cell changes.
double StepOf(const CompiledConstraints& compiled, std::size_t column, double coefficient) {
  const Cell& cell = compiled.cells.cells[column / compiled.slots.size()];
  return std::abs(coefficient) * cell.rate_weight / static_cast<double>(cell.rows);
}

double LargestStep(const CompiledConstraints& compiled, const SparseRow& row) {
  double step = 0.0;
  for (const auto& [column, coefficient] : row.entries) {
    step = std::max(step, StepOf(compiled, column, coefficient));
  }
  return step;
}

double LargestStep(const CompiledConstraints& compiled, const CompiledConstraint& constraint,
                   const std::vector<double>& sums) {
  double step = 0.0;
  for (const MeasuredRate& rate : constraint.rates) {
    const double scale = rate.denominator.entries.empty() ? 1.0 : rate.denominator.Dot(sums);
    step = std::max(step, LargestStep(compiled, rate.value) / scale);
  }
  return step;
}

std::string CellText(const RateProblem& problem, const Cell& cell) {
  const RowData& rows = problem.rows();
  const auto level = [](const CategoricalColumn& column, std::int32_t code) {
    return column.levels[static_cast<std::size_t>(code)];
  };
  std::vector<std::string> parts = {"class=" + level(rows.labels, cell.label)};
  if (cell.baseline >= 0) parts.push_back("baseline=" + level(rows.labels, cell.baseline));
  const std::vector<std::string>& names = problem.compiled().cells.group_columns;
  for (std::size_t g = 0; g < names.size(); ++g) {
    parts.push_back(names[g] + "=" + level(*FindGroup(rows, names[g]), cell.groups[g]));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// What each cell adds to the worst limit of each binding constraint.
std::vector<BlockingCell> FindBlockingCells(const RateProblem& problem,
                                            const std::vector<std::size_t>& binding,
                                            const std::vector<double>& sums) {
  const CompiledConstraints& compiled = problem.compiled();
  const std::vector<double> excess = problem.Excess(sums);
  std::vector<double> added(compiled.cells.cells.size(), 0.0);
  for (const std::size_t c : binding) {
    const CompiledConstraint& constraint = compiled.constraints[c];
    std::size_t worst = constraint.first_row;
    for (std::size_t j = 0; j < constraint.num_rows; ++j) {
      if (excess[constraint.first_row + j] > excess[worst]) worst = constraint.first_row + j;
    }
    const auto row = static_cast<Eigen::Index>(worst);
    for (RowMatrix::InnerIterator entry(compiled.matrix, row); entry; ++entry) {
      const auto column = static_cast<std::size_t>(entry.col());
      added[column / compiled.slots.size()] += std::max(entry.value() * sums[column], 0.0);
    }
  }
  double total = 0.0;
  for (const double part : added) total += part;
  std::vector<BlockingCell> cells;
  for (std::size_t c = 0; c < added.size(); ++c) {
    if (!(added[c] > 0.0)) continue;
    const Cell& cell = compiled.cells.cells[c];
    cells.push_back(
        {.text = CellText(problem, cell), .rows = cell.rows, .share = added[c] / total});
  }
  std::stable_sort(cells.begin(), cells.end(),
                   [](const BlockingCell& a, const BlockingCell& b) { return a.share > b.share; });
  constexpr std::size_t kMost = 5;
  cells.resize(std::min(cells.size(), kMost));
  return cells;
}

bool BoundsAShare(const Constraint& constraint) {
  return std::none_of(
      constraint.expression.terms.begin(), constraint.expression.terms.end(), [](const Term& term) {
        return term.rate.kind == RateKind::kLoss || term.rate.kind == RateKind::kPrecision;
      });
}

std::size_t RowsOf(const CompiledConstraints& compiled, const SparseRow& row) {
  std::vector<bool> seen(compiled.cells.cells.size(), false);
  std::size_t rows = 0;
  for (const auto& entry : row.entries) {
    const std::size_t cell = entry.first / compiled.slots.size();
    if (!seen[cell]) rows += compiled.cells.cells[cell].rows;
    seen[cell] = true;
  }
  return rows;
}

}  // namespace

Reachability FindReachability(const Calibrator& calibrator, const RateProblem& problem,
                              const CalibrationOptions& options) {
  Validate(options);
  const detail::BoundScores& bound = calibrator.bound_scores();
  detail::CheckProblemFits(bound, problem);
  const double temperature = options.fit_temperature ? bound.temperature : 1.0;
  // Many searches, of which each has a small part in the answer: those for one constraint are
  // short, and those that leave one out start from what holds for all.
  constexpr double kShort = 0.02, kLong = 0.25;
  const auto find = [&](const Goal& goal, const detail::SearchHints& hints) {
    return detail::FindBestDecision(bound, problem, goal, temperature, options.seed, hints);
  };

  // The longest first; then each constraint alone.
  std::vector<detail::BestDecision> found(1 + problem.num_constraints());
  detail::ForEachTask(found.size(), [&](std::size_t task) {
    found[task] =
        task == 0 ? find({.kind = Goal::Kind::kWorstExcess}, {.effort = kLong})
                  : find({.kind = Goal::Kind::kExcess, .constraint = task - 1}, {.effort = kShort});
  });

  Reachability result;
  result.exact = std::all_of(found.begin(), found.end(),
                             [](const detail::BestDecision& decision) { return decision.exact; });
  for (std::size_t c = 0; c < problem.num_constraints(); ++c) {
    const CompiledConstraint& constraint = problem.compiled().constraints[c];
    const std::vector<double>& sums = found[1 + c].sums;
    const Measurement measured = Measure(constraint, sums);
    result.alone.push_back({.text = measured.text,
                            .bound = constraint.source.bound,
                            .value = measured.value,
                            .cost = problem.Cost(sums),
                            .meets_bound = measured.satisfied});
  }

  const detail::BestDecision& best = found[0];
  result.adjustment = {.temperature = temperature, .offsets = best.offsets};
  result.cost = problem.Cost(best.sums);
  const std::vector<Measurement> measured = problem.Measure(best.sums);
  result.relaxation = LargestViolation(measured, Goal::kNone);
  result.feasible = result.relaxation == 0.0;
  if (result.feasible) return result;

  const auto relaxation_without = [&](std::size_t c) {
    const detail::BestDecision other = find({.kind = Goal::Kind::kWorstExcess, .constraint = c},
                                            {.starts = {best.offsets}, .effort = kShort});
    return LargestViolation(problem.Measure(other.sums), c);
  };
  std::vector<char> binds(measured.size(), 0);
  detail::ForEachTask(measured.size(), [&](std::size_t c) {
    if (std::isinf(measured[c].violation)) return;
    const CompiledConstraint& constraint = problem.compiled().constraints[c];
    const double step = LargestStep(problem.compiled(), constraint, best.sums);
    const double spare = result.relaxation - ExcessOf(constraint.source, measured[c].value);
    const bool near = spare <= 0.25 * result.relaxation + 20.0 * step;
    if (near && (spare <= 2.0 * step || relaxation_without(c) < result.relaxation - 1e-9)) {
      binds[c] = 1;
    }
  });
  std::vector<std::size_t> binding;
  for (std::size_t c = 0; c < measured.size(); ++c) {
    const bool is_undefined = std::isinf(measured[c].violation);
    if (binds[c] != 0) binding.push_back(c);
    if (binds[c] != 0 || is_undefined) result.binding.push_back(measured[c].text);
  }
  result.blocking = FindBlockingCells(problem, binding, best.sums);
  return result;
}

std::vector<SubsetSize> MeasureSubsets(const RateProblem& problem) {
  const CompiledConstraints& compiled = problem.compiled();
  std::vector<SubsetSize> sizes;
  for (std::size_t c = 0; c < problem.num_constraints(); ++c) {
    const CompiledConstraint& constraint = compiled.constraints[c];
    if (!BoundsAShare(constraint.source)) continue;
    const double b = constraint.source.bound;
    const double allowed = constraint.source.relation == Relation::kAtMost ? b : 1.0 - b;
    for (const MeasuredRate& rate : constraint.rates) {
      SubsetSize size{.text = ToText(constraint.source),
                      .group = rate.group,
                      .rows = RowsOf(compiled, rate.value),
                      .step = LargestStep(compiled, rate.value),
                      .allowed = allowed,
                      .too_small = false,
                      .rows_needed = std::nullopt};
      // No rows at all tell nothing, however much is allowed.
      size.too_small = size.rows == 0 || size.step > allowed;
      if (allowed > 0.0) {
        // sqrt(a (1 - a) / n) <= a / 2
        const double needed = 4.0 * std::max(1.0 - allowed, 0.0) / allowed;
        size.rows_needed = static_cast<std::size_t>(std::ceil(needed - 1e-9));
      }
      sizes.push_back(size);
    }
  }
  return sizes;
}

}  // namespace bregboost
