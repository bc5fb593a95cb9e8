// Cells: the tuples (label, baseline prediction, groups...) that occur. Rows of one cell are alike
// to every constraint, so all rates are linear functions of per-cell sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bregboost/data/row_data.h"

namespace bregboost {

struct Cell {
  std::int32_t label = -1;           // -1 for regression
  std::int32_t baseline = -1;        // -1 unless disagreement is constrained
  std::vector<std::int32_t> groups;  // one code per column of the table
  double rate_weight = 0.0;          // sum over its rows
  double squared_rate_weight = 0.0;  // sum of rate_weight^2 / metric_weight, for Lipschitz bounds
  double max_weight_ratio = 0.0;     // max of rate_weight / metric_weight, for smoothness bounds
  std::size_t rows = 0;              // those whose rate weight is above 0
};

struct CellTable {
  std::vector<std::string> group_columns;  // the columns that tell cells apart
  std::vector<Cell> cells;                 // in lexicographic order of their tuple
  std::vector<std::uint32_t> cell_of_row;
  double metric_weight = 0.0;  // sum over all rows
};

// `group_columns` must exist in `rows`; the label is part of every cell of a classification task.
CellTable MakeCells(const RowData& rows, const std::vector<std::string>& group_columns,
                    bool with_baseline);

// The column of that name, or nullptr.
const CategoricalColumn* FindGroup(const RowData& rows, const std::string& name);

}  // namespace bregboost
