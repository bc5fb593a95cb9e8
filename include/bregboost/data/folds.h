// Rows dealt into folds, or a share of them drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bregboost {

// The fold of each row, 0 to num_folds - 1: rows of every stratum are shuffled by the seed and
// dealt in turn, so that a stratum's rows per fold differ by at most one, and so do the folds'
// sizes. Throws std::invalid_argument unless 2 <= num_folds <= rows.
std::vector<std::int32_t> AssignFolds(std::span<const std::uint32_t> stratum_of_row,
                                      std::size_t num_folds, std::uint64_t seed);

// 1 for rows that are drawn, 0 for the others: of every stratum about `share` of its rows, and of
// all rows as near to it as whole rows allow. Throws std::invalid_argument unless 0 <= share < 1.
std::vector<std::uint8_t> DrawShare(std::span<const std::uint32_t> stratum_of_row, double share,
                                    std::uint64_t seed);

}  // namespace bregboost
