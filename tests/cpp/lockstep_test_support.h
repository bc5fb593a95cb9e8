// Rows of generated data sets, and folds of them as a user of the stock library takes them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boosted_kits.h"

namespace bregboost::testing {

inline GeneratedData Take(const GeneratedData& data, const std::vector<std::int32_t>& rows) {
  GeneratedData taken;
  taken.rows = TakeRows(data.rows, rows);
  taken.num_features = data.num_features;
  for (const std::int32_t row : rows) {
    const auto* first = data.features.data() + static_cast<std::size_t>(row) * data.num_features;
    taken.features.insert(taken.features.end(), first, first + data.num_features);
  }
  return taken;
}

inline std::vector<std::int32_t> RowsOf(std::span<const std::int32_t> fold_of_row,
                                        std::int32_t fold, bool inside) {
  std::vector<std::int32_t> rows;
  for (std::size_t i = 0; i < fold_of_row.size(); ++i) {
    if ((fold_of_row[i] == fold) == inside) rows.push_back(static_cast<std::int32_t>(i));
  }
  return rows;
}

// Some rows under the bins of all.
inline LightGbmDataset TakeData(const LightGbmDataset& all, const GeneratedData& /*data*/,
                                const std::vector<std::int32_t>& rows) {
  return all.Subset(rows);
}
inline XgboostDataset TakeData(const XgboostDataset& all, const GeneratedData& data,
                               const std::vector<std::int32_t>& rows) {
  return MakeDataset<XgboostKit>(Take(data, rows), XgboostKit::Parameters(), &all);
}

}  // namespace bregboost::testing
