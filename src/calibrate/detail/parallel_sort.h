// std::sort of the parts, then merges. `less` must be a total order, so that the result depends
// neither on the threads nor on the order before.
#pragma once

#include <omp.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

namespace bregboost::detail {

template <class T, class Less>
void ParallelSort(std::vector<T>& values, const Less& less) {
  constexpr std::size_t kLeastPerPart = 20'000;
  const std::size_t n = values.size();
  const auto threads = static_cast<std::size_t>(omp_get_max_threads());
  const std::size_t parts = std::bit_floor(std::clamp<std::size_t>(n / kLeastPerPart, 1, threads));
  const auto at = [&](std::size_t part) {
    return values.begin() + static_cast<std::ptrdiff_t>(n * part / parts);
  };
#pragma omp parallel for schedule(static) num_threads(static_cast <int>(parts)) if (parts > 1)
  for (std::size_t part = 0; part < parts; ++part) std::sort(at(part), at(part + 1), less);
  for (std::size_t width = 1; width < parts; width *= 2) {
#pragma omp parallel for schedule(static) num_threads(static_cast <int>(parts))
    for (std::size_t part = 0; part < parts; part += 2 * width) {
      std::inplace_merge(at(part), at(part + width), at(part + 2 * width), less);
    }
  }
}

}  // namespace bregboost::detail
