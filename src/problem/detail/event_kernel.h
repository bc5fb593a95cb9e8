// Passes over rows: sums of events per cell, and derivatives of weighted sums of events. This is
// where the time of constraint evaluation goes; the cost does not depend on how many constraints
// there are, since they enter only as one coefficient per (cell, slot).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bregboost/problem/compiled_constraints.h"
#include "bregboost/problem/surrogate.h"

namespace bregboost::detail {

// What a kernel reads; the cells, weights and targets outlive it. Sums are indexed cell *
// slots.size() + slot.
struct EventLayout {
  const CellTable* cells = nullptr;
  std::vector<Slot> slots;
  std::vector<bool> used;               // slots whose surrogate is wanted
  std::span<const double> row_weights;  // empty: all 1
  std::span<const double> targets;      // regression
  std::size_t num_classes = 0;          // 0 for regression
  SurrogateOptions surrogate;
  LossOptions loss;

  std::size_t num_rows() const { return cells->cell_of_row.size(); }
  std::size_t num_sums() const { return cells->cells.size() * slots.size(); }
  double weight(std::size_t row) const { return row_weights.empty() ? 1.0 : row_weights[row]; }
};

struct EventSums {
  std::vector<double> exact;
  std::vector<double> surrogate;
};

class EventKernel {
 public:
  virtual ~EventKernel() = default;

  // Weighted sums of every event in every cell. Surrogate sums of unused slots are 0.
  virtual EventSums Accumulate(std::span<const double> scores) const = 0;

  // The exact sums alone, without the work that surrogates need: events bit for bit, losses but for
  // rounding.
  virtual std::vector<double> AccumulateExact(std::span<const double> scores) const = 0;

  // Sums of the events' tangents at `at`, evaluated at `scores`.
  virtual std::vector<double> AccumulateTangents(std::span<const double> at,
                                                 std::span<const double> scores) const = 0;

  // value = sum over rows and slots of weight * coefficient[cell, slot] * event(scores). Adds its
  // gradient and, if `hessian` is not empty, a non-negative diagonal bound on its second
  // derivative. Returns the value, or anything if it is not wanted, which may be faster.
  virtual double AddDerivatives(std::span<const double> scores,
                                std::span<const double> coefficients, std::span<double> gradient,
                                std::span<double> hessian, bool want_value) const = 0;
};

std::unique_ptr<EventKernel> MakeBinaryKernel(EventLayout layout);
std::unique_ptr<EventKernel> MakeMulticlassKernel(EventLayout layout);
std::unique_ptr<EventKernel> MakeRegressionKernel(EventLayout layout);

inline std::unique_ptr<EventKernel> MakeEventKernel(EventLayout layout) {
  if (layout.num_classes == 0) return MakeRegressionKernel(std::move(layout));
  if (layout.num_classes == 2) return MakeBinaryKernel(std::move(layout));
  return MakeMulticlassKernel(std::move(layout));
}

}  // namespace bregboost::detail
