#include "bregboost/problem/rate_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "bregboost/problem/parser.h"

namespace bregboost {
namespace {

using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

// Sums of many weights carry rounding: a rate this near to its bound is there.
constexpr double kRounding = 1e-12;

enum class Better { kLess, kMore, kNeither };

Better BetterSide(RateKind kind) {
  switch (kind) {
    case RateKind::kError:
    case RateKind::kBalancedError:
    case RateKind::kLoss:
    case RateKind::kDisagreement:
    case RateKind::kFnr:
    case RateKind::kFpr:
      return Better::kLess;
    case RateKind::kAccuracy:
    case RateKind::kRecall:
    case RateKind::kTpr:
    case RateKind::kTnr:
      return Better::kMore;
    case RateKind::kSelectionRate:
    case RateKind::kPrecision:
      break;
  }
  return Better::kNeither;
}

RateObjective WithoutConstant(RateObjective objective) {
  objective.expression.constant = 0.0;
  return objective;
}

// A bound that no finite value of the cost breaks.
Constraint AlwaysTrue(const RateObjective& objective) {
  Constraint constraint;
  constraint.expression = objective.expression;
  const Range range = ValueRange(constraint.expression);
  if (objective.maximise) {
    constraint.relation = Relation::kAtLeast;
    constraint.bound = range.low;
  } else {
    constraint.bound = std::isfinite(range.high) ? range.high : 1e30;
  }
  return constraint;
}

std::vector<Constraint> WithObjective(std::vector<Constraint> constraints,
                                      const RateObjective& objective) {
  constraints.push_back(AlwaysTrue(objective));
  return constraints;
}

}  // namespace

double RatioError(const SampledRate& low, const SampledRate& high) {
  if (!(low.value > 0.0 && high.value > 0.0 && low.rows > 0.0 && high.rows > 0.0)) return 0.0;
  const auto relative_variance = [](const SampledRate& rate) {
    return std::max(0.0, 1.0 - rate.value) / (rate.value * rate.rows);
  };
  return low.value / high.value * std::sqrt(relative_variance(low) + relative_variance(high));
}

SampledRate LeastKnown(const SampledRate& a, const SampledRate& b) {
  if (a.rows <= 0.0 || b.rows <= 0.0) return a.rows > 0.0 ? a : b;
  return b.rows < a.rows ? b : a;
}

RateObjective ParseObjective(std::string_view text) {
  RateObjective objective{.expression = ParseExpression(text)};
  const auto all = [&](Better side) {
    return std::all_of(objective.expression.terms.begin(), objective.expression.terms.end(),
                       [&](const Term& term) {
                         return term.coefficient > 0.0 && BetterSide(term.rate.kind) == side;
                       });
  };
  objective.maximise = all(Better::kMore);
  if (objective.maximise || all(Better::kLess)) return objective;
  throw std::invalid_argument(fmt::format(
      "objective: '{}'; allowed: sums of accuracy, recall, tpr, tnr (made large) or of error, "
      "balanced_error, loss, disagreement, fnr, fpr (made small), each with a positive coefficient",
      text));
}

bool Happens(const Slot& slot, const Cell& cell, std::int32_t predicted) {
  switch (slot.kind) {
    case SlotKind::kMissClass:
      return predicted != slot.class_code;
    case SlotKind::kMissLabel:
      return predicted != cell.label;
    case SlotKind::kMissBaseline:
      return predicted != cell.baseline;
    case SlotKind::kSelected:
      return predicted == slot.class_code;
    case SlotKind::kLoss:
      break;
  }
  throw std::logic_error("a loss does not happen or not");
}

RateProblem::RateProblem(const std::vector<Constraint>& constraints, const RateObjective& objective,
                         const RowData& rows, const LossOptions& loss, EmptySubsetPolicy policy)
    : RateProblem(constraints, WithoutConstant(objective),
                  RateConstraints(WithObjective(constraints, WithoutConstant(objective)), rows,
                                  SurrogateOptions{}, loss, policy)) {}

RateProblem RateProblem::WithBounds(std::span<const double> bounds) const {
  if (bounds.size() != num_constraints()) {
    throw std::invalid_argument(fmt::format("bounds: {} values; allowed: one per constraint, {}",
                                            bounds.size(), num_constraints()));
  }
  std::vector<Constraint> constraints = constraints_;
  for (std::size_t c = 0; c < bounds.size(); ++c) constraints[c].bound = bounds[c];
  std::vector<double> of_rates(bounds.begin(), bounds.end());
  of_rates.push_back(compiled().constraints.back().source.bound);  // the cost's
  return {std::move(constraints), objective_, rates_.WithBounds(of_rates)};
}

RateProblem::RateProblem(std::vector<Constraint> constraints, RateObjective objective,
                         RateConstraints rates)
    : constraints_(std::move(constraints)),
      objective_(std::move(objective)),
      largest_cost_(ValueRange(objective_.expression).high),
      rates_(std::move(rates)) {
  const RowData& rows = rates_.rows();
  const CellTable& cells = compiled().cells;
  names_groups_ = !cells.group_columns.empty() ||
                  std::any_of(cells.cells.begin(), cells.cells.end(),
                              [](const Cell& cell) { return cell.baseline >= 0; });
  if (rows.task() == Task::kRegression) {
    for (std::size_t j = 0; j < num_limits(); ++j) largest_charges_.push_back(LargestLossCharge(j));
    largest_cost_charge_ = LargestLossCharge(num_limits());
    return;
  }
  const std::vector<double> none(num_limits(), 0.0);
  const std::vector<double> base = CostTable(none);
  largest_cost_charge_ = LargestDifference(base);
  for (std::size_t j = 0; j < num_limits(); ++j) {
    std::vector<double> one = none;
    one[j] = 1.0;
    std::vector<double> alone = CostTable(one);  // without the cost
    for (std::size_t i = 0; i < alone.size(); ++i) alone[i] -= base[i];
    largest_charges_.push_back(LargestDifference(alone));
  }
}

double RateProblem::LargestLossCharge(std::size_t row) const {
  double weight = 0.0, largest = 0.0;
  for (const Cell& cell : compiled().cells.cells) weight += cell.rate_weight;
  for (Matrix::InnerIterator entry(compiled().matrix, static_cast<Eigen::Index>(row)); entry;
       ++entry) {
    largest = std::max(largest, weight * std::abs(entry.value()));
  }
  return largest;
}

// Between two predictions for one cell.
double RateProblem::LargestDifference(std::span<const double> table) const {
  const std::size_t classes = rows().labels.levels.size();
  double largest = 0.0;
  for (std::size_t first = 0; first < table.size(); first += classes) {
    const auto of_cell = table.subspan(first, classes);
    const auto [low, high] = std::minmax_element(of_cell.begin(), of_cell.end());
    largest = std::max(largest, *high - *low);
  }
  return largest;
}

std::size_t RateProblem::num_limits() const { return compiled().constraints.back().first_row; }

double RateProblem::ObjectiveValue(std::span<const double> sums) const {
  return compiled().constraints.back().rates.front().value.Dot(sums);
}

double RateProblem::Cost(std::span<const double> sums) const {
  const double value = ObjectiveValue(sums);
  return objective_.maximise ? largest_cost_ - value : value;
}

double RateProblem::Violation(std::size_t constraint, std::span<const double> sums) const {
  if (!allowances_.empty() || caution_ > 0.0) return AllowedViolation(constraint, sums);
  const CompiledConstraint& compiled_constraint = compiled().constraints[constraint];
  return bregboost::Violation(compiled_constraint.source, Value(compiled_constraint, sums));
}

double RateProblem::AllowedViolation(std::size_t index, std::span<const double> sums) const {
  const CompiledConstraint& constraint = compiled().constraints[index];
  const Measurement measured = bregboost::Measure(constraint, sums);
  if (std::isinf(measured.violation)) return measured.violation;
  const bool at_most = constraint.source.relation == Relation::kAtMost;
  // Without an aggregate there is one rate, which measurements do not list.
  double high = -std::numeric_limits<double>::infinity(), low = -high;
  for (std::size_t r = 0; r < constraint.rates.size(); ++r) {
    const double value = measured.groups.empty() ? measured.value : measured.groups[r].second;
    high = std::max(high, value - allowance(index, r));
    low = std::min(low, value + allowance(index, r));
  }
  double value = at_most ? high : low;
  double error = 0.0;
  switch (constraint.source.aggregate) {
    case Aggregate::kNone:
    case Aggregate::kMax:
    case Aggregate::kMin:
      break;
    case Aggregate::kGap:
      value = high - low;
      break;
    case Aggregate::kRatio:
      value = high <= kRounding ? 1.0 : low / high;
      error = caution_ > 0.0 ? ErrorOfRatio(index, measured, low, high) : 0.0;
      break;
  }
  const double excess =
      (at_most ? value - constraint.source.bound : constraint.source.bound - value) +
      caution_ * error;
  return excess <= kRounding ? 0.0 : excess;
}

double RateProblem::ErrorOfRatio(std::size_t index, const Measurement& measured, double low,
                                 double high) const {
  SampledRate lowest, highest;
  for (std::size_t r = 0; r < measured.groups.size(); ++r) {
    const double value = measured.groups[r].second, granted = allowance(index, r);
    const SampledRate rate{.value = value, .rows = granted > 0.0 ? 0.0 : RowsOfRate(index, r)};
    if (value - granted >= high - kRounding) highest = LeastKnown(highest, rate);
    if (value + granted <= low + kRounding) lowest = LeastKnown(lowest, rate);
  }
  return RatioError(lowest, highest);
}

double RateProblem::RowsOfRate(std::size_t constraint, std::size_t rate) const {
  const MeasuredRate& measured = compiled().constraints[constraint].rates[rate];
  if (!measured.denominator.entries.empty()) return 0.0;
  const std::size_t slots = compiled().slots.size();
  std::set<std::size_t> cells;
  for (const auto& [column, coefficient] : measured.value.entries) {
    if (compiled().slots[column % slots].kind == SlotKind::kLoss) return 0.0;
    cells.insert(column / slots);
  }
  double rows = 0.0;
  for (const std::size_t cell : cells) {
    rows += static_cast<double>(compiled().cells.cells[cell].rows);
  }
  return rows;
}

void RateProblem::SetCaution(double standard_errors) {
  if (!(standard_errors >= 0.0) || !std::isfinite(standard_errors)) {
    throw std::invalid_argument(
        fmt::format("caution: {}; allowed: a finite number, at least 0", standard_errors));
  }
  caution_ = standard_errors;
}

double RateProblem::TotalViolation(std::span<const double> sums) const {
  double total = 0.0;
  for (std::size_t c = 0; c < constraints_.size(); ++c) total += Violation(c, sums);
  return total;
}

void RateProblem::SetAllowances(std::vector<std::vector<double>> allowances) {
  bool fits = allowances.empty() || allowances.size() == num_constraints();
  for (std::size_t c = 0; fits && c < allowances.size(); ++c) {
    fits = allowances[c].size() == compiled().constraints[c].rates.size();
  }
  if (!fits) {
    throw std::invalid_argument(
        fmt::format("allowances: for {} constraints; allowed: none, or one per rate of each of {}",
                    allowances.size(), num_constraints()));
  }
  allowances_ = std::move(allowances);
}

std::vector<std::vector<double>> RateProblem::SamplingErrors(std::span<const double> sums) const {
  const std::size_t slots = compiled().slots.size();
  return ErrorsAt([&](std::size_t column) {
    const double weight = compiled().cells.cells[column / slots].rate_weight;
    return weight > 0.0 ? std::clamp(sums[column] / weight, 0.0, 1.0) : 0.0;
  });
}

std::vector<std::vector<double>> RateProblem::LargestSamplingErrors() const {
  return ErrorsAt([](std::size_t) { return 0.5; });
}

// Cells are independent; events of one cell that enter with several slots are taken as if they
// were.
std::vector<std::vector<double>> RateProblem::ErrorsAt(
    const std::function<double(std::size_t column)>& rate) const {
  const std::size_t slots = compiled().slots.size();
  std::vector<std::vector<double>> errors;
  for (std::size_t c = 0; c < num_constraints(); ++c) {
    errors.emplace_back();
    for (const MeasuredRate& measured : compiled().constraints[c].rates) {
      double variance = 0.0;
      bool is_share = measured.denominator.entries.empty();
      for (const auto& [column, coefficient] : measured.value.entries) {
        const Cell& cell = compiled().cells.cells[column / slots];
        if (cell.rows == 0) continue;
        is_share = is_share && compiled().slots[column % slots].kind != SlotKind::kLoss;
        const double of_cell = coefficient * cell.rate_weight;
        const double p = rate(column);
        variance += of_cell * of_cell * p * (1.0 - p) / static_cast<double>(cell.rows);
      }
      errors.back().push_back(is_share ? std::sqrt(variance) : 0.0);
    }
  }
  return errors;
}

double RateProblem::Merit(std::span<const double> sums, double rho) const {
  const double violation = TotalViolation(sums);
  // Undefined is never worth having, whatever rho.
  return std::isinf(violation) ? violation : Cost(sums) + rho * violation;
}

std::vector<Measurement> RateProblem::Measure(std::span<const double> sums) const {
  std::vector<Measurement> result;
  for (std::size_t c = 0; c < constraints_.size(); ++c) {
    result.push_back(bregboost::Measure(compiled().constraints[c], sums));
  }
  return result;
}

std::vector<double> RateProblem::Excess(std::span<const double> sums) const {
  std::vector<double> excess = rates_.ValuesOf(sums, sums).exact;
  excess.resize(num_limits());
  for (std::size_t c = 0; c < allowances_.size(); ++c) {
    const CompiledConstraint& constraint = compiled().constraints[c];
    const std::vector<double>& of_rate = allowances_[c];
    const bool is_ratio = constraint.source.aggregate == Aggregate::kRatio;
    if (!is_ratio && constraint.source.aggregate != Aggregate::kGap) {  // one limit per rate
      for (std::size_t r = 0; r < of_rate.size(); ++r)
        excess[constraint.first_row + r] -= of_rate[r];
      continue;
    }
    // Ordered pairs of groups: rate_a - rate_b <= bound, or bound * rate_a - rate_b <= 0.
    std::size_t j = constraint.first_row;
    for (std::size_t a = 0; a < of_rate.size(); ++a) {
      for (std::size_t b = 0; b < of_rate.size(); ++b) {
        if (a == b) continue;
        excess[j++] -= (is_ratio ? constraint.source.bound : 1.0) * of_rate[a] + of_rate[b];
      }
    }
  }
  return excess;
}

std::vector<double> RateProblem::CostTable(std::span<const double> multipliers) const {
  const CompiledConstraints& c = compiled();
  const std::size_t classes = rows().labels.levels.size();
  const std::size_t slots = c.slots.size();
  std::vector<double> y(multipliers.begin(), multipliers.end());
  y.push_back(1.0);
  const std::vector<double> coefficients = rates_.Coefficients(y);
  double weight = 0.0;
  for (const Cell& cell : c.cells.cells) weight += cell.rate_weight;
  std::vector<double> table(c.cells.cells.size() * classes, 0.0);
  for (std::size_t cell = 0; cell < c.cells.cells.size(); ++cell) {
    for (std::size_t s = 0; s < slots; ++s) {
      const double charge = weight * coefficients[cell * slots + s];
      if (charge == 0.0) continue;
      const bool loss = c.slots[s].kind == SlotKind::kLoss;
      const Slot slot = loss ? Slot{.kind = SlotKind::kMissLabel} : c.slots[s];
      for (std::size_t k = 0; k < classes; ++k) {
        if (Happens(slot, c.cells.cells[cell], static_cast<std::int32_t>(k))) {
          table[cell * classes + k] += charge;
        }
      }
    }
  }
  return table;
}

}  // namespace bregboost
