#include "bregboost/certify/rate_intervals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "bregboost/certify/binomial_bounds.h"

namespace bregboost {
namespace {

constexpr double kTail = 0.025;  // on each side
// Sums of many weights carry rounding.
constexpr double kRounding = 1e-6;

bool IsNear(double value, double other) { return std::abs(value - other) <= kRounding; }

// What every row weighs, rows without weight apart; none if they differ.
std::optional<double> CommonWeight(const RowData& rows) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::array ends = {-kInfinity, -kInfinity};  // the largest weight, minus the smallest
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    const double weight = rows.rate_weight(i);
    if (weight == 0.0) continue;
    ends[0] = std::max(ends[0], weight);
    ends[1] = std::max(ends[1], -weight);
  }
  if (rows.workers != nullptr) rows.workers->Max(ends);
  return ends[0] == -ends[1] ? std::optional(ends[0]) : std::nullopt;
}

std::optional<Interval> BinomialInterval(double events, std::size_t rows) {
  const double count = std::round(events);
  const auto n = static_cast<std::int64_t>(rows);
  if (n < 1 || !(std::abs(events - count) <= kRounding * static_cast<double>(n))) {
    return std::nullopt;
  }
  const std::int64_t k = std::clamp<std::int64_t>(static_cast<std::int64_t>(count), 0, n);
  return Interval{.low = BinomialLowerBound(k, n, kTail), .high = BinomialUpperBound(k, n, kTail)};
}

class Rates {
 public:
  Rates(const CompiledConstraints& compiled, const RowData& rows, std::span<const double> sums)
      : compiled_(compiled), sums_(sums), weight_(CommonWeight(rows)) {}

  RateOnRows Of(const MeasuredRate& rate) const {
    return rate.denominator.entries.empty() ? OfRows(rate) : OfSelected(rate);
  }

 private:
  RateOnRows OfRows(const MeasuredRate& rate) const {
    RateOnRows found{.group = rate.group, .value = rate.value.Dot(sums_), .rows = 0};
    std::vector<bool> seen(compiled_.cells.cells.size(), false);
    for (const auto& entry : rate.value.entries) {
      const std::size_t cell = entry.first / compiled_.slots.size();
      if (!seen[cell]) found.rows += compiled_.cells.cells[cell].rows;
      seen[cell] = true;
    }
    if (IsShareOfEqualRows(rate.value)) {
      found.interval = BinomialInterval(found.value * static_cast<double>(found.rows), found.rows);
    }
    return found;
  }

  RateOnRows OfSelected(const MeasuredRate& rate) const {
    RateOnRows found{
        .group = rate.group, .value = std::numeric_limits<double>::quiet_NaN(), .rows = 0};
    const double selected = rate.denominator.Dot(sums_);
    if (!(selected > 0.0)) return found;
    found.value = rate.value.Dot(sums_) / selected;
    if (!weight_) return found;
    found.rows = static_cast<std::size_t>(std::llround(selected / *weight_));
    found.interval = BinomialInterval(rate.value.Dot(sums_) / *weight_, found.rows);
    return found;
  }

  // sum of events / number of rows, or 1 minus that: every cell once, with the same coefficient.
  bool IsShareOfEqualRows(const SparseRow& row) const {
    if (!weight_ || row.entries.empty()) return false;
    const double coefficient = row.entries.front().second;
    if (!IsNear(row.constant, coefficient > 0.0 ? 0.0 : 1.0)) return false;
    const std::size_t slots = compiled_.slots.size();
    std::vector<bool> seen(compiled_.cells.cells.size(), false);
    double total = 0.0;
    for (const auto& [column, factor] : row.entries) {
      const std::size_t cell = column / slots;
      const bool same = IsNear(factor / coefficient, 1.0);
      if (seen[cell] || !same || compiled_.slots[column % slots].kind == SlotKind::kLoss) {
        return false;
      }
      seen[cell] = true;
      total += std::abs(factor) * compiled_.cells.cells[cell].rate_weight;
    }
    return IsNear(total, 1.0);
  }

  const CompiledConstraints& compiled_;
  std::span<const double> sums_;
  std::optional<double> weight_;
};

}  // namespace

std::vector<std::vector<RateOnRows>> FindRateIntervals(const CompiledConstraints& compiled,
                                                       std::size_t num_constraints,
                                                       const RowData& rows,
                                                       std::span<const double> sums) {
  const Rates rates(compiled, rows, sums);
  std::vector<std::vector<RateOnRows>> found(num_constraints);
  for (std::size_t c = 0; c < num_constraints; ++c) {
    for (const MeasuredRate& rate : compiled.constraints[c].rates) {
      found[c].push_back(rates.Of(rate));
    }
  }
  return found;
}

}  // namespace bregboost
