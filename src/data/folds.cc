#include "bregboost/data/folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>

namespace bregboost {

std::vector<std::int32_t> AssignFolds(std::span<const std::uint32_t> stratum_of_row,
                                      std::size_t num_folds, std::uint64_t seed) {
  if (num_folds < 2 || num_folds > stratum_of_row.size()) {
    throw std::invalid_argument(fmt::format("num_folds: {}; allowed: 2 to the number of rows, {}",
                                            num_folds, stratum_of_row.size()));
  }
  std::map<std::uint32_t, std::vector<std::size_t>> rows_of_stratum;
  for (std::size_t i = 0; i < stratum_of_row.size(); ++i) {
    rows_of_stratum[stratum_of_row[i]].push_back(i);
  }
  std::vector<std::int32_t> fold_of_row(stratum_of_row.size());
  std::mt19937_64 random(seed);
  std::size_t next = 0;
  for (auto& [stratum, rows] : rows_of_stratum) {
    // Fisher-Yates by hand: std::shuffle may differ between standard libraries.
    for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random() % i]);
    // The next stratum goes on where this one ended, which keeps the folds' sizes even.
    for (const std::size_t row : rows) {
      fold_of_row[row] = static_cast<std::int32_t>(next++ % num_folds);
    }
  }
  return fold_of_row;
}

}  // namespace bregboost
