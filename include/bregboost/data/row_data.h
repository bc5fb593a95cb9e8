// What the problem knows about every row besides its features: label or target, group columns,
// weights, a baseline model's prediction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bregboost/data/workers.h"

namespace bregboost {

// Text values as integer codes. `codes[i]` indexes `levels`; a level may have no rows.
struct CategoricalColumn {
  std::string name;
  std::vector<std::string> levels;
  std::vector<std::int32_t> codes;
};

// Distinct values become levels, in numeric order if all of them are numbers, else in byte order,
// so the codes do not depend on the order of the rows.
CategoricalColumn EncodeColumn(std::string name, const std::vector<std::string>& values);

enum class Task { kBinary, kMulticlass, kRegression };

struct RowData {
  CategoricalColumn labels;         // classification: two or more levels
  std::int32_t positive_class = 1;  // binary: the code of the positive class
  std::vector<double> targets;      // regression: one value per row, and no labels

  std::vector<CategoricalColumn> groups;
  std::vector<double> weights;         // in the loss; empty means 1 for every row
  std::vector<double> rate_weights;    // in the rates; empty means the same as `weights`
  std::vector<std::int32_t> baseline;  // class codes that another model predicts; may be empty

  // Null: these are all rows. Else the part of them that this worker has; levels are the same on
  // all workers (see AgreeOnLevels).
  std::shared_ptr<const Workers> workers = nullptr;

  std::size_t num_rows() const { return targets.empty() ? labels.codes.size() : targets.size(); }
  Task task() const;
  // Scores per row: 1 for binary (the log-odds of class code 1) and regression, K for K classes.
  std::size_t num_scores() const;
  double weight(std::size_t row) const { return weights.empty() ? 1.0 : weights[row]; }
  double rate_weight(std::size_t row) const {
    return rate_weights.empty() ? weight(row) : rate_weights[row];
  }
  // How much a row counts in the score metric 1/(2M) sum_i m_i ||F_i - F'_i||^2, M = sum_i m_i: the
  // larger of its two weights, so that no row that a rate sees is free to move.
  double metric_weight(std::size_t row) const;

  // Sums over these rows become sums over the rows of all workers.
  void SumOverWorkers(std::span<double> sums) const {
    if (workers != nullptr) workers->Sum(sums);
  }
  double SumOverWorkers(double sum) const {
    SumOverWorkers({&sum, 1});
    return sum;
  }
};

// Labels and groups get the levels that any of the workers has, in the order of EncodeColumn. Group
// columns must be the same on all workers. Without workers nothing changes.
void AgreeOnLevels(RowData& rows);

// Throws std::invalid_argument naming the field, the value and what is allowed.
void Validate(const RowData& rows);

// The given rows, in that order, with all levels.
RowData TakeRows(const RowData& rows, std::span<const std::int32_t> indices);

// The same rows with the codes of `like`: labels, predictions of the baseline and groups are
// matched by their text. Group columns that `like` lacks are left out; a group value that it lacks
// gets a code of its own behind them. Throws std::invalid_argument for a label that `like` lacks.
RowData RecodeLike(const RowData& rows, const RowData& like);

// All rows; those whose `keep` is 0 have no weight.
RowData MaskRows(const RowData& rows, std::span<const std::uint8_t> keep);

}  // namespace bregboost
