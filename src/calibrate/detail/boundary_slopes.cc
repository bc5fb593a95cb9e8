#include "calibrate/detail/boundary_slopes.h"

#include <algorithm>
#include <cmath>

namespace bregboost::detail {
namespace {

// A row that goes from `from` to the axis' class once its offset has grown by t.
struct BoundaryRow {
  double t = 0.0;
  std::size_t row = 0;
  std::size_t from = 0;
};

void AddScaled(const SparseRow& row, double factor, std::vector<double>& gradient) {
  for (const auto& [column, coefficient] : row.entries) gradient[column] += factor * coefficient;
}

double ValueOf(const MeasuredRate& rate, std::span<const double> sums) {
  const double value = rate.value.Dot(sums);
  return rate.denominator.entries.empty() ? value : value / rate.denominator.Dot(sums);
}

void AddGradient(const MeasuredRate& rate, std::span<const double> sums, double factor,
                 std::vector<double>& gradient) {
  if (rate.denominator.entries.empty()) {
    AddScaled(rate.value, factor, gradient);
    return;
  }
  const double selected = rate.denominator.Dot(sums);
  AddScaled(rate.value, factor / selected, gradient);
  AddScaled(rate.denominator, -factor * ValueOf(rate, sums) / selected, gradient);
}

std::vector<BoundaryRow> AllRows(const RateProblem& problem, const BoundScores& bound,
                                 double temperature, std::span<const double> offsets,
                                 std::size_t axis) {
  const RowData& rows = problem.rows();
  const std::size_t n = rows.num_rows();
  const auto score = [&](std::size_t k, std::size_t i) {
    return bound.scores[k * n + i] / temperature + offsets[k];
  };
  std::vector<BoundaryRow> result;
  result.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (rows.rate_weight(i) <= 0.0) continue;
    if (rows.num_scores() == 1) {
      result.push_back({.t = -score(0, i), .row = i, .from = 0});
      continue;
    }
    std::size_t rival = axis == 0 ? 1 : 0;
    for (std::size_t k = rival + 1; k < rows.num_scores(); ++k) {
      if (k != axis && score(k, i) > score(rival, i)) rival = k;
    }
    result.push_back({.t = score(rival, i) - score(axis, i), .row = i, .from = rival});
  }
  return result;
}

}  // namespace

Charges ChargesOf(const CompiledConstraints& compiled, std::size_t num_classes,
                  std::span<const double> gradient) {
  const std::size_t slots = compiled.slots.size();
  Charges charges(compiled.cells.cells.size() * num_classes, 0.0);
  for (std::size_t column = 0; column < gradient.size(); ++column) {
    const Slot& slot = compiled.slots[column % slots];
    if (gradient[column] == 0.0 || slot.kind == SlotKind::kLoss) continue;
    const std::size_t cell = column / slots;
    for (std::size_t k = 0; k < num_classes; ++k) {
      if (Happens(slot, compiled.cells.cells[cell], static_cast<std::int32_t>(k))) {
        charges[cell * num_classes + k] += gradient[column];
      }
    }
  }
  return charges;
}

std::vector<double> ValueGradient(const CompiledConstraint& constraint,
                                  std::span<const double> sums) {
  std::vector<double> gradient(sums.size(), 0.0);
  const std::vector<MeasuredRate>& rates = constraint.rates;
  const auto less = [&](const MeasuredRate& a, const MeasuredRate& b) {
    return ValueOf(a, sums) < ValueOf(b, sums);
  };
  const auto [low, high] = std::minmax_element(rates.begin(), rates.end(), less);
  switch (constraint.source.aggregate) {
    case Aggregate::kNone:
    case Aggregate::kMax:
      AddGradient(*high, sums, 1.0, gradient);
      break;
    case Aggregate::kMin:
      AddGradient(*low, sums, 1.0, gradient);
      break;
    case Aggregate::kGap:
      AddGradient(*high, sums, 1.0, gradient);
      AddGradient(*low, sums, -1.0, gradient);
      break;
    case Aggregate::kRatio: {
      const double largest = ValueOf(*high, sums);
      AddGradient(*low, sums, 1.0 / largest, gradient);
      AddGradient(*high, sums, -ValueOf(*low, sums) / (largest * largest), gradient);
      break;
    }
  }
  return gradient;
}

// Local linear least squares with a triangular kernel, weights c_i = 1 - |t_i| / h: the fit's value
// at t = 0 is sum_i l_i y_i, l_i = c_i (C2 - C1 t_i) / (C0 C2 - C1^2), Cp = sum_i c_i t_i^p.
BoundarySlopes::BoundarySlopes(const RateProblem& problem, const BoundScores& bound,
                               double temperature, std::span<const double> offsets,
                               std::size_t axis, std::size_t count)
    : num_classes_(problem.rows().labels.levels.size()), axis_(axis) {
  std::vector<BoundaryRow> rows = AllRows(problem, bound, temperature, offsets, axis);
  count = std::min(count, rows.size());
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(rows.begin(), middle - 1, rows.end(),
                   [](const BoundaryRow& a, const BoundaryRow& b) {
                     const double near = std::abs(a.t), far = std::abs(b.t);
                     return near != far ? near < far : a.row < b.row;
                   });
  const double width = std::abs(rows[count - 1].t);
  rows.resize(count);
  const auto kernel = [&](double t) {
    return width > 0.0 ? 1.0 - std::abs(t) / (1.0000001 * width) : 1.0;
  };
  double c0 = 0.0, c1 = 0.0, c2 = 0.0;
  for (const BoundaryRow& row : rows) {
    const double c = kernel(row.t);
    c0 += c;
    c1 += c * row.t;
    c2 += c * row.t * row.t;
  }
  const double determinant = c0 * c2 - c1 * c1;
  const bool flat = !(determinant > 1e-9 * c0 * c2);  // all at one place: the plain mean
  weights_.assign(problem.compiled().cells.cells.size() * num_classes_, 0.0);
  squared_weights_ = weights_;
  for (const BoundaryRow& row : rows) {
    const double c = kernel(row.t);
    const double l = flat ? c / c0 : c * (c2 - c1 * row.t) / determinant;
    const double weighted = l * problem.rows().rate_weight(row.row);
    const std::size_t kind =
        problem.compiled().cells.cell_of_row[row.row] * num_classes_ + row.from;
    weights_[kind] += weighted;
    squared_weights_[kind] += weighted * weighted;
  }
}

template <class Add>
void BoundarySlopes::ForEachKind(const Charges& charges, const Add& add) const {
  for (std::size_t kind = 0; kind < weights_.size(); ++kind) {
    if (squared_weights_[kind] == 0.0) continue;
    const std::size_t cell = kind / num_classes_;
    const std::size_t to = num_classes_ == 2 ? 1 : axis_;
    add(kind, charges[cell * num_classes_ + to] - charges[kind]);
  }
}

double BoundarySlopes::Mean(const Charges& charges) const {
  double mean = 0.0;
  ForEachKind(charges, [&](std::size_t kind, double change) { mean += weights_[kind] * change; });
  return mean;
}

double BoundarySlopes::Variance(const Charges& charges) const {
  double variance = 0.0;
  ForEachKind(charges, [&](std::size_t kind, double change) {
    variance += squared_weights_[kind] * change * change;
  });
  return variance;
}

}  // namespace bregboost::detail
