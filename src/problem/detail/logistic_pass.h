// The binary passes for logistic surrogates, fused and vectorised: they are what every boosting
// round runs, on every row. Missing class 0 costs log(1 + e^F), missing class 1 log(1 + e^-F),
// which is F less, so any mixture of both and of the log-loss is, with three numbers per cell,
//   a log(1 + e^F) - b F,   gradient a sigmoid(F) - b,   hessian at most h sigmoid(F) sigmoid(-F).
#pragma once

#include <cstddef>
#include <cstdint>

namespace bregboost::detail {

// Both structs are four doubles that the passes move as one vector.
struct LogisticCoefficients {
  double a = 0.0;
  double b = 0.0;
  double h = 0.0;  // >= 0: the sum of the positive parts of what `a` sums up
  double unused = 0.0;
};

// Cells come sorted by label, so a cell's label is whether it is at or past `first_of_label_1`.
// Where the coefficients of every cell are those of its own errors and losses, which is the common
// case, b is a or 0 by the label and h is max(a, 0): one look-up per row in place of three.
struct LogisticTable {
  const LogisticCoefficients* by_cell = nullptr;
  const double* own_errors = nullptr;  // `a` by cell, or null where that does not hold
  std::int64_t first_of_label_1 = 0;
};

struct LogisticRows {
  const double* scores = nullptr;
  const std::uint32_t* cells = nullptr;
  const double* weights = nullptr;  // null: all 1
  std::size_t size = 0;
};

// Adds to gradient and, unless null, hessian.
void AddLogisticDerivatives(const LogisticRows& rows, const LogisticTable& table, double* gradient,
                            double* hessian);
// The same, and returns the sum of weight * (a log(1 + e^F) - b F): a logarithm more per row.
double AddLogisticLagrangian(const LogisticRows& rows, const LogisticTable& table, double* gradient,
                             double* hessian);

struct LogisticSums {
  double miss[2] = {0.0, 0.0};      // sums of weight * log(1 + e^F) and weight * log(1 + e^-F)
  double selected[2] = {0.0, 0.0};  // weight of the rows predicted 0 and 1
};
// Adds every row to the sums of its cell.
void AccumulateLogistic(const LogisticRows& rows, LogisticSums* by_cell);

}  // namespace bregboost::detail
