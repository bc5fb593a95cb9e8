#include "bregboost/data/folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>

namespace bregboost {

namespace {

// Rows stratum by stratum, each in an order drawn by the seed.
std::vector<std::size_t> ShuffledByStratum(std::span<const std::uint32_t> stratum_of_row,
                                           std::uint64_t seed) {
  std::map<std::uint32_t, std::vector<std::size_t>> rows_of_stratum;
  for (std::size_t i = 0; i < stratum_of_row.size(); ++i) {
    rows_of_stratum[stratum_of_row[i]].push_back(i);
  }
  std::vector<std::size_t> order;
  order.reserve(stratum_of_row.size());
  std::mt19937_64 random(seed);
  for (auto& [stratum, rows] : rows_of_stratum) {
    // Fisher-Yates by hand: std::shuffle may differ between standard libraries.
    for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random() % i]);
    order.insert(order.end(), rows.begin(), rows.end());
  }
  return order;
}

}  // namespace

std::vector<std::int32_t> AssignFolds(std::span<const std::uint32_t> stratum_of_row,
                                      std::size_t num_folds, std::uint64_t seed) {
  if (num_folds < 2 || num_folds > stratum_of_row.size()) {
    throw std::invalid_argument(fmt::format("num_folds: {}; allowed: 2 to the number of rows, {}",
                                            num_folds, stratum_of_row.size()));
  }
  std::vector<std::int32_t> fold_of_row(stratum_of_row.size());
  // A stratum goes on where the one before it ended, which keeps the folds' sizes even.
  std::size_t next = 0;
  for (const std::size_t row : ShuffledByStratum(stratum_of_row, seed)) {
    fold_of_row[row] = static_cast<std::int32_t>(next++ % num_folds);
  }
  return fold_of_row;
}

std::vector<std::uint8_t> DrawShare(std::span<const std::uint32_t> stratum_of_row, double share,
                                    std::uint64_t seed) {
  if (!(share >= 0.0 && share < 1.0)) {
    throw std::invalid_argument(fmt::format("share: {}; allowed: at least 0 and below 1", share));
  }
  std::vector<std::uint8_t> drawn(stratum_of_row.size(), 0);
  // Every row adds its share; whenever that makes another half row, a row is drawn.
  double due = 0.0, taken = 0.0;
  for (const std::size_t row : ShuffledByStratum(stratum_of_row, seed)) {
    due += share;
    if (due - taken < 0.5) continue;
    taken += 1.0;
    drawn[row] = 1;
  }
  return drawn;
}

}  // namespace bregboost
