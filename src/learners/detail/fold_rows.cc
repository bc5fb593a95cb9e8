#include "learners/detail/fold_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "bregboost/data/folds.h"
#include "detail/option_checks.h"

namespace bregboost::detail {
namespace {

std::vector<std::int32_t> FoldsOf(const CellTable& cells, const LockstepOptions& options) {
  const std::vector<std::int32_t>& given = options.fold_of_row;
  if (given.empty()) return AssignFolds(cells.cell_of_row, options.num_folds, options.seed);
  if (given.size() != cells.cell_of_row.size()) {
    throw std::invalid_argument(fmt::format("fold_of_row: {} values; allowed: one per row, {}",
                                            given.size(), cells.cell_of_row.size()));
  }
  RequireAtLeast<std::size_t>("num_folds", options.num_folds, 2);
  std::vector<std::size_t> sizes(options.num_folds, 0);
  for (const std::int32_t fold : given) {
    if (fold < 0 || static_cast<std::size_t>(fold) >= options.num_folds) {
      throw std::invalid_argument(
          fmt::format("fold_of_row: {}; allowed: 0 to {}", fold, options.num_folds - 1));
    }
    ++sizes[static_cast<std::size_t>(fold)];
  }
  const auto empty = std::find(sizes.begin(), sizes.end(), std::size_t{0});
  if (empty != sizes.end()) {
    throw std::invalid_argument(
        fmt::format("fold_of_row: no row in fold {}; allowed: rows in each of the {} folds",
                    empty - sizes.begin(), options.num_folds));
  }
  return given;
}

void CheckRising(const char* field, std::span<const std::int32_t> rows, std::size_t num_data_rows) {
  std::int64_t last = -1;
  for (const std::int32_t row : rows) {
    if (row <= last || static_cast<std::size_t>(row) >= num_data_rows) {
      throw std::invalid_argument(
          fmt::format("{}: {} after {}; allowed: rows of the data set, 0 to {}, in rising order",
                      field, row, last < 0 ? "none" : std::to_string(last), num_data_rows - 1));
    }
    last = row;
  }
}

void CheckDataRows(const LockstepOptions& options, std::size_t num_rows,
                   std::size_t num_data_rows) {
  if (options.rows.empty()) {
    if (num_rows != num_data_rows) {
      throw std::invalid_argument(
          fmt::format("data set: {} rows; allowed without `rows`: as many as the objective has, {}",
                      num_data_rows, num_rows));
    }
    if (options.reserved_rows.empty()) return;
    throw std::invalid_argument(
        fmt::format("reserved_rows: {} values; allowed without `rows`, when every row of the data "
                    "set is the objective's: none",
                    options.reserved_rows.size()));
  }
  if (options.rows.size() != num_rows) {
    throw std::invalid_argument(
        fmt::format("rows: {} values; allowed: one for each row of the objective, {}",
                    options.rows.size(), num_rows));
  }
  CheckRising("rows", options.rows, num_data_rows);
  CheckRising("reserved_rows", options.reserved_rows, num_data_rows);
  std::vector<std::int32_t> both;
  std::set_intersection(options.rows.begin(), options.rows.end(), options.reserved_rows.begin(),
                        options.reserved_rows.end(), std::back_inserter(both));
  if (both.empty()) return;
  throw std::invalid_argument(
      fmt::format("reserved_rows: {}, which is among `rows` too; allowed: rows that the objective "
                  "does not hold",
                  both.front()));
}

}  // namespace

FoldRows::FoldRows(const CellTable& cells, const LockstepOptions& options,
                   std::size_t num_data_rows)
    : num_folds_(options.num_folds),
      num_data_rows_(num_data_rows),
      fold_of_row_(FoldsOf(cells, options)),
      data_rows_(options.rows),
      reserved_(options.reserved_rows) {
  CheckDataRows(options, cells.cell_of_row.size(), num_data_rows);
}

std::vector<std::int32_t> FoldRows::Select(std::size_t k, bool inside) const {
  const auto fold = static_cast<std::int32_t>(k);
  const auto in_fold =
      static_cast<std::size_t>(std::count(fold_of_row_.begin(), fold_of_row_.end(), fold));
  std::vector<std::int32_t> rows;
  rows.reserve(inside ? in_fold : fold_of_row_.size() - in_fold);
  for (std::size_t i = 0; i < fold_of_row_.size(); ++i) {
    if ((fold_of_row_[i] == fold) == inside) {
      rows.push_back(static_cast<std::int32_t>(i));
    }
  }
  return rows;
}

std::span<const std::int32_t> FoldRows::InData(std::span<const std::int32_t> rows,
                                               std::vector<std::int32_t>& places) const {
  if (data_rows_.empty()) return rows;
  places.resize(rows.size());
  std::transform(rows.begin(), rows.end(), places.begin(),
                 [this](std::int32_t row) { return InData(row); });
  return places;
}

RowData FoldRows::Masked(const RowData& rows, std::size_t k) const {
  std::vector<std::uint8_t> keep(num_data_rows_, 0);
  std::vector<std::int32_t> like(data_rows_.empty() ? 0 : num_data_rows_, 0);
  for (std::size_t i = 0; i < fold_of_row_.size(); ++i) {
    const auto row = static_cast<std::int32_t>(i);
    const auto place = static_cast<std::size_t>(InData(row));
    keep[place] = fold_of_row_[i] == static_cast<std::int32_t>(k) ? 0 : 1;
    if (!like.empty()) like[place] = row;
  }
  return MaskRows(like.empty() ? rows : TakeRows(rows, like), keep);
}

}  // namespace bregboost::detail
