// Which rows each booster of a LockstepLearner is trained on, and which it only scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bregboost/data/row_data.h"
#include "bregboost/learners/lockstep.h"
#include "bregboost/problem/cells.h"

namespace bregboost::detail {

// A row has two numbers: its place among the objective's rows and its place in the data set, which
// may hold more rows. Lists of rows are in rising order.
class FoldRows {
 public:
  // `cells` are those of the objective's rows. Throws std::invalid_argument where the options do
  // not fit them or the data set.
  FoldRows(const CellTable& cells, const LockstepOptions& options, std::size_t num_data_rows);

  std::size_t num_folds() const { return num_folds_; }
  std::span<const std::int32_t> fold_of_row() const { return fold_of_row_; }
  std::span<const std::int32_t> reserved() const { return reserved_; }  // of the data set

  // Of the objective's rows, those outside fold k and those inside.
  std::vector<std::int32_t> Training(std::size_t k) const { return Select(k, /*inside=*/false); }
  std::vector<std::int32_t> HeldOut(std::size_t k) const { return Select(k, /*inside=*/true); }

  std::int32_t InData(std::int32_t row) const {
    return data_rows_.empty() ? row : data_rows_[static_cast<std::size_t>(row)];
  }
  // `places` is for the answer where it is not `rows` itself.
  std::span<const std::int32_t> InData(std::span<const std::int32_t> rows,
                                       std::vector<std::int32_t>& places) const;

  // One row per row of the data set, of which only the training rows of fold k have weight. Rows
  // that the objective lacks look like its first one, which adds no cell.
  RowData Masked(const RowData& rows, std::size_t k) const;

 private:
  std::vector<std::int32_t> Select(std::size_t k, bool inside) const;

  std::size_t num_folds_;
  std::size_t num_data_rows_;
  std::vector<std::int32_t> fold_of_row_;
  std::vector<std::int32_t> data_rows_;  // empty: every row has one number
  std::vector<std::int32_t> reserved_;
};

}  // namespace bregboost::detail
