#include "solve/detail/tightened_limits.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace bregboost::detail {
namespace {

constexpr double kLargestShare = 0.5;  // of a limit's room

// A constraint that compares groups has the errors of two rates, each of which takes half of what
// the comparison is tightened by.
bool ComparesByAggregate(const Constraint& constraint) {
  return constraint.aggregate == Aggregate::kGap || constraint.aggregate == Aggregate::kRatio;
}

// Of a constraint's groups, or of the one rate that measurements do not list.
std::vector<double> RatesOf(const CompiledConstraint& constraint, std::span<const double> sums) {
  const Measurement measured = Measure(constraint, sums);
  if (measured.groups.empty()) return {measured.value};
  std::vector<double> rates;
  for (const auto& [group, rate] : measured.groups) rates.push_back(rate);
  return rates;
}

double Spread(std::span<const double> rates) {
  const auto [low, high] = std::minmax_element(rates.begin(), rates.end());
  return *high - *low;
}

// How much worse each rate gets, negative where it gets better.
std::vector<double> Worsening(const Constraint& constraint, std::span<const double> before,
                              std::span<const double> after) {
  if (ComparesByAggregate(constraint)) {
    return std::vector<double>(before.size(), 0.5 * (Spread(after) - Spread(before)));
  }
  std::vector<double> worse;
  const double sign = constraint.relation == Relation::kAtMost ? 1.0 : -1.0;
  for (std::size_t r = 0; r < before.size(); ++r) worse.push_back(sign * (after[r] - before[r]));
  return worse;
}

// Between a limit on a rate and the best that the rate can be.
double RoomOfRate(const RateProblem& problem, const Constraint& constraint,
                  const MeasuredRate& rate) {
  double low = 0.0, high = 1.0;
  if (rate.denominator.entries.empty()) {
    const std::size_t slots = problem.compiled().slots.size();
    low = high = rate.value.constant;
    for (const auto& [column, coefficient] : rate.value.entries) {
      const double most = problem.compiled().slots[column % slots].kind == SlotKind::kLoss
                              ? std::numeric_limits<double>::infinity()
                              : problem.compiled().cells.cells[column / slots].rate_weight;
      (coefficient < 0.0 ? low : high) += coefficient * most;
    }
  }
  return constraint.relation == Relation::kAtMost ? constraint.bound - low
                                                  : high - constraint.bound;
}

// The most that a rate of the constraint may be tightened by.
double Ceiling(const RateProblem& problem, const CompiledConstraint& constraint, std::size_t r,
               std::span<const double> rates) {
  const Constraint& source = constraint.source;
  double room = 0.0;
  if (!ComparesByAggregate(source)) {
    room = RoomOfRate(problem, source, constraint.rates[r]);
  } else if (source.aggregate == Aggregate::kGap) {
    room = 0.5 * source.bound;
  } else {
    room = 0.5 * (1.0 - source.bound) * *std::max_element(rates.begin(), rates.end());
  }
  return room > 0.0 ? kLargestShare * room : 0.0;
}

}  // namespace

std::vector<std::vector<double>> WithinRoom(const RateProblem& problem,
                                            std::span<const double> sums,
                                            std::vector<std::vector<double>> allowances) {
  for (std::size_t c = 0; c < allowances.size(); ++c) {
    const CompiledConstraint& constraint = problem.compiled().constraints[c];
    const std::vector<double> rates = RatesOf(constraint, sums);
    for (std::size_t r = 0; r < rates.size(); ++r) {
      allowances[c][r] = std::max(allowances[c][r], -Ceiling(problem, constraint, r, rates));
    }
  }
  return allowances;
}

TightenedLimits::TightenedLimits(const RateProblem& problem, double margin,
                                 std::span<const double> sums)
    : forgiven_(problem.allowances()), margins_(problem.SamplingErrors(sums)) {
  forgiven_.resize(margins_.size());
  for (std::size_t c = 0; c < margins_.size(); ++c) {
    std::vector<double>& errors = margins_[c];
    forgiven_[c].resize(errors.size(), 0.0);
    if (ComparesByAggregate(problem.constraints()[c])) {
      double squares = 0.0;
      for (const double error : errors) squares += error * error;
      std::fill(errors.begin(), errors.end(), 0.5 * std::sqrt(squares));
    }
    for (double& error : errors) error *= margin;
  }
}

std::vector<std::vector<double>> TightenedLimits::Allowances(const RateProblem& problem,
                                                             std::span<const double> sums,
                                                             std::span<const double> shift) const {
  std::vector<double> shifted(sums.begin(), sums.end());
  for (std::size_t i = 0; i < shift.size(); ++i) shifted[i] += shift[i];
  std::vector<std::vector<double>> allowances = forgiven_;
  for (std::size_t c = 0; c < allowances.size(); ++c) {
    const CompiledConstraint& constraint = problem.compiled().constraints[c];
    const std::vector<double> rates = RatesOf(constraint, sums);
    const std::vector<double> worse =
        Worsening(constraint.source, rates, RatesOf(constraint, shifted));
    for (std::size_t r = 0; r < rates.size(); ++r) {
      if (allowances[c][r] > 0.0) continue;
      const double change = std::isfinite(worse[r]) ? worse[r] : 0.0;  // undefined: not known
      allowances[c][r] = -std::max(margins_[c][r] + change, 0.0);
    }
  }
  return WithinRoom(problem, sums, std::move(allowances));
}

}  // namespace bregboost::detail
