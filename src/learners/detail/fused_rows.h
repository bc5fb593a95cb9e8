// What the fused passes read besides scores. Float32 is enough for derivatives; weights enter sums
// in double, so that counts of rows are exact.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

namespace bregboost::detail {

// Ranges of rows must hold a vector of any instruction set.
inline constexpr std::size_t kFewestFusedRows = 128;

// Tables of floats by cell have room for a vector of any instruction set.
inline constexpr std::size_t kFewestTableEntries = 64;

using ScoreData = std::variant<const double*, const float*>;
using CellIds = std::variant<const std::uint8_t*, const std::uint32_t*>;

// Rows with a single score.
struct BinaryRows {
  ScoreData scores;
  CellIds cells;
};

// strength * 1/2 sum_i m_i ||F_i - center_i||^2 for centers like the scores; m comes with the pass.
struct PullTerm {
  ScoreData center;
  double strength = 0.0;
};

struct PullTerms {
  std::span<const PullTerm> terms;
  float curvature = 0.0F;                 // the sum of all strengths, also of pulls without a term
  const float* metric_weights = nullptr;  // m; null: all 1
};

// Rows first .. end(), a whole number of vectors. The first `skip` of them belong to the block
// before: the last rows of a range are handled by a vector that ends with them.
struct Block {
  std::size_t first = 0;
  std::size_t size = 0;
  std::size_t skip = 0;

  std::size_t end() const { return first + size; }
};

// The next block of a range of at least `lanes` rows; `at` is the first row that is left of it.
inline Block NextBlock(std::size_t at, std::size_t end, std::size_t block, std::size_t lanes) {
  const std::size_t left = std::min(block, end - at);
  if (left >= lanes) return {.first = at, .size = left / lanes * lanes, .skip = 0};
  return {.first = end - lanes, .size = lanes, .skip = lanes - left};
}

}  // namespace bregboost::detail
