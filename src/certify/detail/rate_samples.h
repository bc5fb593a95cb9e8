// Constraints as sums of rates, each of one event over one subset of rows, with what the
// certification rows show of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
  std::vector<std::uint32_t> columns;  // of the compiled sums, sorted: tells which rate it is
  std::vector<std::uint32_t> cells;    // whose rows it is about, sorted
  std::size_t rows = 0;                // those with weight
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

// Makes each sample once and keeps it. Refers to all its arguments.
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

  // Exact sums of all events, for Measure.
  std::vector<double> EventSums() const;

  // Rows with weight in any of the samples, each counted once.
  std::size_t RowsOf(const std::vector<RateSum>& sums) const;

 private:
  const RateSample* Sample(const Rate& rate);
  const RateSample* PrecisionErrors(const Rate& rate);
  void AddTerm(double coefficient, const RateSample* sample, RateSum& sum) const;
  void AddRate(double coefficient, const Rate& rate, RateSum& sum);
  double EventOf(std::size_t row, const Slot& slot) const;
  void Fill(const std::vector<std::size_t>& rows, const std::vector<double>& events, bool is_loss,
            RateSample& sample) const;
  Condition LabelIs(std::int32_t code) const;

  const Predictions& predictions_;
  const RowData& rows_;
  const CompiledConstraints& compiled_;
  const CertifyOptions& options_;
  RateCompiler compiler_;
  std::vector<std::size_t> rows_of_cell_;  // with weight
  std::vector<std::unique_ptr<RateSample>> samples_;
};

}  // namespace bregboost::detail
