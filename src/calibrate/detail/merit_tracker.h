// The merit of a decision, kept up to date while single rows change their prediction. A change
// costs as much as the constraints that see the row's cell, not as all constraints.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bregboost/problem/rate_problem.h"

namespace bregboost::detail {

// What is made small, first to last. Undefined rates come first, so that no finite merit ever loses
// to a decision that leaves a rate without a value.
struct Standing {
  static constexpr double kRounding = 1e-12;  // values nearer than this are the same

  std::size_t undefined = 0;  // constraints without a value
  double value = std::numeric_limits<double>::infinity();
  double tie_break = 0.0;
};
// Here, since sweeps ask once for every row.
inline bool Better(const Standing& a, const Standing& b) {
  constexpr double kRounding = Standing::kRounding;
  if (a.undefined != b.undefined) return a.undefined < b.undefined;
  if (a.value < b.value - kRounding) return true;
  return a.value <= b.value + kRounding && a.tie_break < b.tie_break - kRounding;
}
inline bool Same(const Standing& a, const Standing& b) {
  return a.undefined == b.undefined && std::abs(a.value - b.value) <= Standing::kRounding &&
         std::abs(a.tie_break - b.tie_break) <= Standing::kRounding;
}

struct Goal {
  enum class Kind {
    kMerit,        // cost + rho * total violation, up to a constant
    kExcess,       // one constraint's excess over its bound, then the cost
    kWorstExcess,  // the largest excess of all but one constraint, then the cost
  };
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  Kind kind = Kind::kMerit;
  double rho = 0.0;                // kMerit
  std::size_t constraint = kNone;  // kExcess: the one; kWorstExcess: the one left out
};

class MeritTracker {
 public:
  // Keeps a reference to `problem`.
  MeritTracker(const RateProblem& problem, const Goal& goal);

  // Starts from these event sums.
  void Reset(std::span<const double> sums);

  void Move(std::uint32_t cell, std::size_t from, std::size_t to, double weight) {
    for (std::uint32_t t = first_touch_[cell]; t < first_touch_[cell + 1]; ++t) {
      const std::int8_t* happens = &effects_[touches_[t].effects];
      const int change = happens[to] - happens[from];
      if (change == 0) continue;
      Part& part = parts_[touches_[t].part];
      part.sum += change * weight;
      MarkRate(part.rate);
    }
  }

  // Of the present decision.
  Standing Evaluate();

  std::size_t num_constraints() const { return constraints_.size() - 1; }
  // How many rates one change of a prediction makes anew, on average over the cells.
  double mean_touches() const;

 private:
  // Sums of events that enter a rate with the same coefficient are summed up before they are
  // multiplied: counts stay exact however long the sweep.
  struct Part {
    double coefficient = 0.0;
    double sum = 0.0;
    std::uint32_t rate = 0;
    std::vector<std::uint32_t> columns;
  };
  struct Form {  // constant + sum of coefficient * sum over its parts
    double constant = 0.0;
    std::uint32_t first_part = 0, end_part = 0;
  };
  struct RateState {
    Form value, denominator;
    bool has_denominator = false;
    double least_denominator = 0.0;  // at or below it nothing is selected
    std::uint32_t constraint = 0;
    double now = 0.0;        // NaN where undefined
    double allowance = 0.0;  // see RateProblem::SetAllowances
    double rows = 0.0;       // of a ratio's rate; 0 if its sampling error does not count
    bool changed = false;

    double high() const { return now - allowance; }  // as the larger side of its constraint
    double low() const { return now + allowance; }
  };
  struct ConstraintState {
    bool counts = true;  // for the goal
    Aggregate aggregate = Aggregate::kNone;
    bool at_most = true;
    double bound = 0.0;
    std::uint32_t first_rate = 0, end_rate = 0;
    std::size_t undefined_rates = 0;
    std::uint32_t highest = 0, lowest = 0;  // rates, of more than one
    double excess = 0.0;
    double violation = 0.0;  // 0 where undefined: those are counted apart
  };
  struct Touch {
    std::uint32_t part = 0;
    std::uint32_t effects = 0;  // effects_[effects + k]: how many of its events prediction k makes
  };

  Form AddForm(const SparseRow& row, std::uint32_t rate,
               std::vector<std::vector<Touch>>& touches_of_cell);
  void MarkRate(std::uint32_t rate) {
    if (rates_[rate].changed) return;
    rates_[rate].changed = true;
    changed_rates_.push_back(rate);
  }
  double ValueOf(const Form& form) const;
  double ValueOf(const RateState& rate) const;
  void Refresh(std::uint32_t index);  // of a rate
  void FindExtremes(ConstraintState& constraint);
  double Combined(const ConstraintState& constraint) const;
  double ErrorOfRatio(const ConstraintState& constraint) const;
  void SetExcess(std::uint32_t index);  // of a constraint
  void SumUp();
  double WorstExcess();
  bool Counts(std::size_t constraint) const;

  const RateProblem& problem_;
  Goal goal_;
  double caution_;  // see RateProblem::SetCaution
  std::size_t num_classes_;
  std::vector<Part> parts_;
  std::vector<RateState> rates_;
  std::vector<ConstraintState> constraints_;  // the last one is the objective
  std::vector<std::uint32_t> first_touch_;    // by cell, and the end
  std::vector<Touch> touches_;
  std::vector<std::int8_t> effects_;

  std::vector<std::uint32_t> changed_rates_;
  double objective_ = 0.0;  // as the user named it
  double total_violation_ = 0.0;
  std::size_t violated_ = 0, undefined_ = 0;
  std::size_t changes_since_sum_ = 0;
  std::size_t worst_ = Goal::kNone;  // of the largest excess
  bool worst_is_known_ = false;
};

}  // namespace bregboost::detail
