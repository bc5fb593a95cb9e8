// Sorts by a double and, where that is equal, by what else makes the order total: the result
// depends neither on the threads nor on the order before. Parts are sorted by the leading bits of
// the double, which takes a time in proportion to their length, and merged.
#pragma once

#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bregboost::detail {

// Ascends as the number does; the same for both zeros.
inline std::uint64_t OrderedBits(double number) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63U;
  const auto bits = std::bit_cast<std::uint64_t>(number + 0.0);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

// `number_of(value)` is not NaN; `less` orders by it first.
template <class T, class NumberOf, class Less>
void SortByNumber(std::span<T> values, const NumberOf& number_of, const Less& less) {
  constexpr std::size_t kFew = 500;  // below, tables of digits cost more than they save
  constexpr unsigned kDigitBits = 11, kDigits = 3;
  constexpr unsigned kIgnored = 64 - kDigits * kDigitBits;
  constexpr std::uint64_t kMask = (1U << kDigitBits) - 1;
  const std::size_t n = values.size();
  if (n < kFew) {
    std::sort(values.begin(), values.end(), less);
    return;
  }
  const auto leading = [&](const T& value) { return OrderedBits(number_of(value)) >> kIgnored; };

  std::array<std::array<std::size_t, kMask + 1>, kDigits> place{};
  for (const T& value : values) {
    const std::uint64_t bits = leading(value);
    for (unsigned d = 0; d < kDigits; ++d) ++place[d][(bits >> (d * kDigitBits)) & kMask];
  }
  std::vector<T> copy(n);
  std::span<T> from = values, to = copy;
  for (unsigned d = 0; d < kDigits; ++d) {
    std::size_t before = 0;
    for (std::size_t& digit : place[d]) {
      const std::size_t count = digit;
      digit = before;
      before += count;
    }
    for (const T& value : from)
      to[place[d][(leading(value) >> (d * kDigitBits)) & kMask]++] = value;
    std::swap(from, to);
  }
  static_assert(kDigits % 2 == 1, "the last digit leaves the values in the copy");
  std::copy(copy.begin(), copy.end(), values.begin());

  // What the leading bits leave open.
  for (std::size_t begin = 0; begin < n;) {
    const std::uint64_t bits = leading(values[begin]);
    std::size_t end = begin + 1;
    while (end < n && leading(values[end]) == bits) ++end;
    const auto run = values.subspan(begin, end - begin);
    std::sort(run.begin(), run.end(), less);
    begin = end;
  }
}

template <class T, class NumberOf, class Less>
void ParallelSort(std::vector<T>& values, const NumberOf& number_of, const Less& less) {
  constexpr std::size_t kLeastPerPart = 20'000;
  const std::size_t n = values.size();
  const auto threads = static_cast<std::size_t>(omp_get_max_threads());
  const std::size_t parts = std::bit_floor(std::clamp<std::size_t>(n / kLeastPerPart, 1, threads));
  const auto at = [&](std::size_t part) {
    return values.begin() + static_cast<std::ptrdiff_t>(n * part / parts);
  };
#pragma omp parallel for schedule(static) num_threads(static_cast <int>(parts)) if (parts > 1)
  for (std::size_t part = 0; part < parts; ++part) {
    SortByNumber(std::span<T>(at(part), at(part + 1)), number_of, less);
  }
  for (std::size_t width = 1; width < parts; width *= 2) {
#pragma omp parallel for schedule(static) num_threads(static_cast <int>(parts))
    for (std::size_t part = 0; part < parts; part += 2 * width) {
      std::inplace_merge(at(part), at(part + width), at(part + 2 * width), less);
    }
  }
}

}  // namespace bregboost::detail
