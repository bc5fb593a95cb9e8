// How many rows a measured rate is over, and how far chance may have moved it: for readers of a
// report. An interval is exact for one rate of rows that were drawn independently and a decision
// that did not look at them; it claims nothing about limits, which is the certificate's part.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bregboost/data/row_data.h"
#include "bregboost/problem/compiled_constraints.h"

namespace bregboost {

struct Interval {
  double low = 0.0;
  double high = 1.0;

  bool operator==(const Interval&) const = default;
};

// One rate of a constraint: of one of its groups, or the one that it has.
struct RateOnRows {
  std::string group;     // "sex=F"; empty without groups
  double value = 0.0;    // NaN where undefined
  std::size_t rows = 0;  // whose rate weight is above 0; for precision those that are selected
  // Clopper & Pearson's, at 95%. None where the rate is undefined or no share of equal rows:
  // losses, sums of several rates, rows whose weights differ.
  std::optional<Interval> interval;
};

// For each of the first `num_constraints` constraints its rates, in their order. `sums` are exact
// event sums of `rows`, to which `compiled` is bound.
std::vector<std::vector<RateOnRows>> FindRateIntervals(const CompiledConstraints& compiled,
                                                       std::size_t num_constraints,
                                                       const RowData& rows,
                                                       std::span<const double> sums);

}  // namespace bregboost
