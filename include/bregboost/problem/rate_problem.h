// What decisions are judged by: a cost rate to make small, limits on rates, and the merit that
// trades one for the other. Every part is a function of the event sums S of one set of cells, so
// a decision is judged without another look at the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "bregboost/problem/constraint.h"
#include "bregboost/problem/rate_constraints.h"

namespace bregboost {

// An objective as the user names it: what it measures, and whether more of it is better. A constant
// in it changes nothing and is left out.
struct RateObjective {
  RateExpression expression;
  bool maximise = false;
};

// `accuracy`, `recall`, `tpr`, `tnr` and sums of them are made large; errors, losses, `fnr`, `fpr`,
// `disagreement` and sums of them small. Throws std::invalid_argument for anything else: a
// selection rate has no better side, and precision no linear form.
RateObjective ParseObjective(std::string_view text);

class RateProblem {
 public:
  // Keeps a reference to `rows`. Throws ConstraintError.
  RateProblem(const std::vector<Constraint>& constraints, const RateObjective& objective,
              const RowData& rows, const LossOptions& loss = {},
              EmptySubsetPolicy policy = EmptySubsetPolicy::kError);
  RateProblem(const std::vector<Constraint>& constraints, const RateObjective& objective,
              const RowData&& rows, const LossOptions& loss = {},
              EmptySubsetPolicy policy = EmptySubsetPolicy::kError) = delete;

  // The same problem with other bounds, one for each constraint, and without allowances. Equal to a
  // new one in every answer, but made without another look at each row. Throws ConstraintError, or
  // std::invalid_argument for a wrong number of bounds.
  RateProblem WithBounds(std::span<const double> bounds) const;

  // The constraints, then one more that always holds: cost <= the largest cost. Its row of A, the
  // last, is the cost rate, and a multiplier of 1 on it makes A'y the whole Lagrangian.
  const RateConstraints& rates() const { return rates_; }
  const CompiledConstraints& compiled() const { return rates_.compiled(); }
  const std::vector<Constraint>& constraints() const { return constraints_; }
  const RateObjective& objective() const { return objective_; }
  const RowData& rows() const { return rates_.rows(); }

  std::size_t num_constraints() const { return constraints_.size(); }  // as written
  std::size_t num_limits() const;                                      // rows of A that are theirs
  // True if some constraint tells groups (or a baseline's predictions) apart, so that one threshold
  // for all rows may not do.
  bool names_groups() const { return names_groups_; }

  // The rate to make small: the objective, or its largest value minus it.
  double Cost(std::span<const double> sums) const;
  double ObjectiveValue(std::span<const double> sums) const;  // as the user named it
  // Of a constraint as written, in its unit; infinite where a rate is undefined.
  double Violation(std::size_t constraint, std::span<const double> sums) const;
  double TotalViolation(std::span<const double> sums) const;
  // cost + rho * total violation; infinite where a rate is undefined.
  double Merit(std::span<const double> sums, double rho) const;
  std::vector<Measurement> Measure(std::span<const double> sums) const;

  // g_j of every limit, 0-1 events, minus its allowance; NaN where undefined.
  std::vector<double> Excess(std::span<const double> sums) const;

  // For every constraint, one value per rate of it (its groups, or the one): positive where
  // sampling error is to be forgiven, negative for a margin. A rate counts as smaller by it where
  // it should be small, as larger where it should be large. Judged violations, merit and excess see
  // that; Measure(), which is for reports, does not. Empty: none.
  void SetAllowances(std::vector<std::vector<double>> allowances);
  const std::vector<std::vector<double>>& allowances() const { return allowances_; }
  double allowance(std::size_t constraint, std::size_t rate) const {
    return allowances_.empty() || constraint >= allowances_.size() ? 0.0
                                                                   : allowances_[constraint][rate];
  }

  // Judged violations and merit count the ratio of two rates as worse by this many of its standard
  // errors, at the decision that is judged, unless sampling error of one of them is forgiven; >= 0.
  // The error grows without end as the rates shrink: some decision that selects a handful of rows
  // holds any such limit by luck.
  void SetCaution(double standard_errors);
  double caution() const { return caution_; }
  // The rows whose share a rate of a constraint is; 0 for losses and precision.
  double RowsOfRate(std::size_t constraint, std::size_t rate) const;

  // The standard errors of the rates of every constraint when the rows are a sample and the events
  // of each cell have the rates that `sums` show; without `sums`, the largest there can be. 0 for
  // losses and precision, whose errors are not those of a share of given rows.
  std::vector<std::vector<double>> SamplingErrors(std::span<const double> sums) const;
  std::vector<std::vector<double>> LargestSamplingErrors() const;

  // costs[cell * K + k]: what the Lagrangian cost + <multipliers, g> charges a row of that cell for
  // the prediction k, in units of the cost rate per share of all rows. A loss counts as a miss of
  // the label. Classification only; `multipliers` has one value per limit.
  std::vector<double> CostTable(std::span<const double> multipliers) const;
  // L_j: the most that limit j charges for one prediction over another, in the same unit; for a
  // numeric target, the most that it charges a unit of loss.
  std::span<const double> largest_charges() const { return largest_charges_; }
  // The same of the cost: 1 if all rows count alike, as in accuracy; of recall, one over the share
  // of the positives.
  double largest_cost_charge() const { return largest_cost_charge_; }

 private:
  RateProblem(std::vector<Constraint> constraints, RateObjective objective, RateConstraints rates);

  double AllowedViolation(std::size_t constraint, std::span<const double> sums) const;
  double ErrorOfRatio(std::size_t constraint, const Measurement& measured, double low,
                      double high) const;
  std::vector<std::vector<double>> ErrorsAt(
      const std::function<double(std::size_t column)>& rate) const;
  double LargestLossCharge(std::size_t row) const;
  double LargestDifference(std::span<const double> table) const;

  std::vector<Constraint> constraints_;
  RateObjective objective_;
  double largest_cost_;  // of an objective that is made large: what its cost is counted from
  RateConstraints rates_;
  bool names_groups_ = false;
  std::vector<double> largest_charges_;
  double largest_cost_charge_ = 0.0;
  std::vector<std::vector<double>> allowances_;
  double caution_ = 0.0;
};

// A share of `rows` rows.
struct SampledRate {
  double value = 0.0;
  double rows = 0.0;  // 0: its sampling error is not known
};
// The standard error of low / high, two independent rates, to first order in their own errors; 0
// where a rate is 0 or its error is not known.
double RatioError(const SampledRate& low, const SampledRate& high);
// Of rates that are as high, or as low, as each other: the one that is known least, of those that
// are known at all.
SampledRate LeastKnown(const SampledRate& a, const SampledRate& b);

// True if the event of `slot` happens to a row of `cell` with this prediction. Not for losses.
bool Happens(const Slot& slot, const Cell& cell, std::int32_t predicted);

}  // namespace bregboost
