// Constraints as sums of rates, each of one event over one subset of rows, with what the
// certification rows show of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bregboost/certify/certificate.h"
#include "bregboost/problem/compiled_constraints.h"
#include "problem/detail/rate_compiler.h"

namespace bregboost::detail {

// One rate on the rows.
struct RateSample {
  std::string subset;
  std::vector<std::uint32_t> cells;  // whose rows it is about, sorted
  bool is_part_of_cells = false;     // precision: only the rows that the model selects
  std::size_t rows = 0;              // those with weight
  bool is_binomial = true;
  std::int64_t events = 0;  // binomial only
  // Else: what is averaged, with its ranges.
  std::vector<double> values, weights;
  double low = 0.0, high = 1.0, max_weight = 1.0;
};

// constant + sum of coefficient * rate; no rate twice, no zero coefficient.
struct RateSum {
  std::vector<std::pair<double, const RateSample*>> terms;
  double constant = 0.0;
};
RateSum Scaled(double factor, RateSum sum);
RateSum Difference(const RateSum& left, const RateSum& right);

// Makes each sample once and keeps it. Counts come from one pass over the rows; only weighted rates
// and losses look at rows again. Refers to all its arguments.
class RateSampler {
 public:
  // Checks predictions, losses and weights against the rows and options; throws
  // std::invalid_argument.
  RateSampler(const Predictions& predictions, const RowData& rows,
              const CompiledConstraints& compiled, const CertifyOptions& options);

  // The constraint's expression in one group.
  RateSum Sum(const RateExpression& expression, const std::vector<Condition>& group);

  std::vector<std::vector<Condition>> Groups(const std::vector<Column>& by) const {
    return compiler_.Groups(by);
  }
  // Levels of the columns that no row with weight has, as "column=level".
  std::vector<std::string> EmptyLevels(const std::vector<Column>& by) const;

  // Exact weighted sums of all events, for Measure.
  const std::vector<double>& event_sums() const { return event_sums_; }

  // Rows with weight in any of the samples, each counted once.
  std::size_t RowsOf(const std::vector<RateSum>& sums) const;

 private:
  struct CellTally {
    std::size_t rows = 0;  // with weight
    double smallest_weight = 0.0, largest_weight = 0.0;
  };
  void Tally();
  void ShareTally();  // what all workers have counted
  const RateSample* Sample(const Rate& rate);
  const RateSample* PrecisionErrors(const Rate& rate);
  void AddRate(double coefficient, const Rate& rate, RateSum& sum);
  double EventOf(std::size_t row, const Slot& slot) const;
  bool IsWeighted(const RateSample& sample) const;
  // Finds out whether the rate is a binomial one; if not, `value_of` says what is averaged of each
  // row, or nothing for rows of other subsets.
  template <class ValueOf>
  void FillValues(bool is_loss, const ValueOf& value_of, RateSample& sample) const;
  std::uint32_t SelectedColumn(std::int32_t class_code, std::uint32_t cell) const;
  Condition LabelIs(std::int32_t code) const;

  const Predictions& predictions_;
  const RowData& rows_;
  const CompiledConstraints& compiled_;
  const CertifyOptions& options_;
  RateCompiler compiler_;
  std::vector<CellTally> cells_;
  std::vector<std::int64_t> event_counts_;  // by column: rows with weight and the event
  std::vector<double> event_sums_;          // by column
  // By columns; rates of subsets without rows have none and go by name.
  std::map<std::pair<std::vector<std::uint32_t>, std::string>, RateSample> samples_;
};

}  // namespace bregboost::detail
