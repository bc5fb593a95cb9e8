// How rates move when a class's offset does: averages over the rows that would change first.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bregboost/problem/rate_problem.h"
#include "calibrate/detail/bound_scores.h"

namespace bregboost::detail {

// charges[cell * K + k]: what one unit of weight of that cell adds to a quantity when predicted k.
using Charges = std::vector<double>;

// From the gradient of the quantity in the event sums S.
Charges ChargesOf(const CompiledConstraints& compiled, std::size_t num_classes,
                  std::span<const double> gradient);

// d(value) / dS of a constraint's value, or of the objective, at `sums`: the largest and the
// smallest group stay what they are.
std::vector<double> ValueGradient(const CompiledConstraint& constraint,
                                  std::span<const double> sums);

// The mean change per row that goes over to class `axis` at the boundary, by a local linear fit
// over the `count` rows nearest to it: sum_i l_i y_i with y_i the row's change and l_i fixed by the
// rows' distances, so that one pass serves every quantity.
class BoundarySlopes {
 public:
  // Scores are F / T + offset; binary: one axis, class 1.
  BoundarySlopes(const RateProblem& problem, const BoundScores& bound, double temperature,
                 std::span<const double> offsets, std::size_t axis, std::size_t count);

  // Of the quantity with these charges.
  double Mean(const Charges& charges) const;
  // The variance of that mean, for a quantity whose mean is near 0.
  double Variance(const Charges& charges) const;

 private:
  template <class Add>
  void ForEachKind(const Charges& charges, const Add& add) const;

  std::size_t num_classes_, axis_;
  std::vector<double> weights_;          // [cell * K + from]: sum of l_i w_i
  std::vector<double> squared_weights_;  // sum of (l_i w_i)^2
};

}  // namespace bregboost::detail
