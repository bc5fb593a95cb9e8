// Generated rows for the end-to-end benchmarks: 28 features, nonlinear labels of 2 or 7 classes,
// and a group column of 50 levels. The same seed gives the same rows everywhere.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bregboost/data/row_data.h"

namespace bregboost::benchmarks {

inline constexpr std::size_t kFeatures = 28;
inline constexpr std::size_t kGroups = 50;

struct SyntheticData {
  std::vector<float> features;  // row-major
  RowData rows;
};

// SplitMix64: small, fast, and the same on every platform, unlike the standard distributions.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double Uniform() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1.0p-53;
  }
  // A sum of uniforms is normal enough, and needs no logarithm.
  double Normal() { return (Uniform() + Uniform() + Uniform() + Uniform() - 2.0) * std::sqrt(3.0); }

 private:
  std::uint64_t state_;
};

inline SyntheticData MakeSyntheticData(std::size_t n, std::size_t num_classes, std::uint64_t seed) {
  Random random(seed);
  SyntheticData data;
  data.features.reserve(n * kFeatures);
  data.rows.labels.name = "label";
  for (std::size_t k = 0; k < num_classes; ++k)
    data.rows.labels.levels.push_back(std::to_string(k));
  CategoricalColumn group{.name = "group", .levels = {}, .codes = {}};
  for (std::size_t g = 0; g < kGroups; ++g) group.levels.push_back(fmt::format("g{}", g));
  for (std::size_t i = 0; i < n; ++i) {
    double x[kFeatures];
    for (double& value : x) {
      value = random.Normal();
      data.features.push_back(static_cast<float>(value));
    }
    const double signal = x[0] + 0.8 * x[1] * x[2] - 0.6 * std::abs(x[3]) +
                          0.5 * std::sin(2 * x[4]) + 0.3 * x[5] * (x[6] > 0.0 ? 1.0 : -1.0) +
                          0.7 * random.Normal();
    // Classes are slices of the signal; two classes have one positive row in six or so.
    const double cut = num_classes == 2
                           ? (signal > 1.0 ? 1.0 : 0.0)
                           : std::floor((signal + 2.5) / 5.0 * static_cast<double>(num_classes));
    const double last = static_cast<double>(num_classes - 1);
    data.rows.labels.codes.push_back(
        static_cast<std::int32_t>(std::fmin(last, std::fmax(0.0, cut))));
    group.codes.push_back(static_cast<std::int32_t>(random.Uniform() * kGroups));
  }
  data.rows.groups.push_back(std::move(group));
  return data;
}

}  // namespace bregboost::benchmarks
