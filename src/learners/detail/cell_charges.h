// What a row of a cell pays for missing each class: the form that every qualifying Lagrangian
// takes.
//   psi = sum over rows of w_i sum_k charge[cell_i, k] * (-log p_k)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bregboost/problem/objective.h"
#include "bregboost/problem/rate_constraints.h"

namespace bregboost::detail {

struct CellCharges {
  CellCharges(std::size_t cells, std::size_t classes)
      : num_classes(classes), charge(cells * classes, 0.0), bend(cells, 0.0) {}

  std::size_t num_classes;
  std::vector<double> charge;  // [cell * num_classes + class]
  std::vector<double> bend;    // by cell: the sum of the positive parts of what was charged

  std::size_t num_cells() const { return bend.size(); }
  void Add(std::size_t cell, std::int32_t target, double amount);
  // The other's cells are the same.
  void Add(const CellCharges& other);
};

// True if every surrogate that the constraints use is a cross-entropy.
bool UsesCrossEntropiesOnly(const RateConstraints& constraints);

// The class whose miss a slot counts in a cell; the label for the loss, -1 for selected classes.
std::int32_t TargetOf(const Slot& slot, const Cell& cell);

// How much a surrogate that is a multiple of the cross-entropy counts per nat.
double UnitsPerNat(const SurrogateOptions& options);

// True if no constraint charges a row for missing a class that is not its label.
bool ChargesOwnMissesOnly(const RateConstraints& constraints);

// `coefficients` is A'y; every number is multiplied by `factor`.
CellCharges ChargesOf(const RateConstraints& constraints, std::span<const double> coefficients,
                      double factor);
CellCharges ChargesOf(const Objective& objective, const CellTable& cells, double factor);

}  // namespace bregboost::detail
