// The columns of a table that are not features, as RowData.
#pragma once

#include <string>
#include <vector>

#include "bregboost/data/libsvm_text.h"
#include "bregboost/data/row_data.h"
#include "bregboost/data/table.h"

namespace bregboost {

// Names of columns; an empty one is not there.
struct RowColumns {
  std::string label;   // class labels
  std::string target;  // numbers, for regression; not together with `label`
  std::string weight, rate_weight;
  std::vector<std::string> groups;
  bool group_features = false;  // group columns are features as well
};

// `options` with these columns in them: labels and groups are texts, targets and weights numbers.
TableOptions WithRowColumns(TableOptions options, const RowColumns& columns);

// Labels are coded by `classes`, those of a trained model; if there are none, by those that occur.
// With neither label nor target there are none in the result, which is then no problem to train on.
// Throws std::invalid_argument with the source and the column for a label that is no class, and
// with the line where a label, target, weight or group is missing.
RowData RowsOf(const Table& table, const RowColumns& columns,
               const std::vector<std::string>& classes = {});

// A numeric label is a target.
RowData RowsOf(const SparseTable& table, const std::vector<std::string>& classes = {});

// The code of the class that is to be the positive one. Throws std::invalid_argument, which lists
// the classes, if it is none of them.
std::int32_t PositiveClass(const RowData& rows, const std::string& label);

}  // namespace bregboost
