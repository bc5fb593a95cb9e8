// Numbers as UBJSON has them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace bregboost::detail {

template <class Number>
Number FromBigEndian(const char* bytes) {
  std::array<char, sizeof(Number)> ordered;
  std::copy_n(bytes, sizeof(Number), ordered.begin());
  if constexpr (std::endian::native == std::endian::little) std::ranges::reverse(ordered);
  return std::bit_cast<Number>(ordered);
}

template <class Number>
void ToBigEndian(Number number, char* bytes) {
  auto ordered = std::bit_cast<std::array<char, sizeof(Number)>>(number);
  if constexpr (std::endian::native == std::endian::little) std::ranges::reverse(ordered);
  std::copy_n(ordered.begin(), sizeof(Number), bytes);
}

}  // namespace bregboost::detail
