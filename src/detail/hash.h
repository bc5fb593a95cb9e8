// 64-bit hashes of values in a row, for telling data apart; not against an adversary.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace bregboost::detail {

// The finaliser of SplitMix64: every bit of the input moves every bit of the result.
inline std::uint64_t Mixed(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

inline void AddToHash(std::uint64_t value, std::uint64_t& hash) { hash = Mixed(hash ^ value); }

// -0.0 and 0.0 are one number.
inline void AddToHash(double value, std::uint64_t& hash) {
  AddToHash(std::bit_cast<std::uint64_t>(value + 0.0), hash);
}

inline void AddToHash(std::string_view text, std::uint64_t& hash) {
  AddToHash(static_cast<std::uint64_t>(text.size()), hash);
  for (const char c : text) {
    AddToHash(static_cast<std::uint64_t>(static_cast<unsigned char>(c)), hash);
  }
}

}  // namespace bregboost::detail
