// Sorting by leading bits against std::sort.
#include "calibrate/detail/parallel_sort.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace bregboost::detail {
namespace {

struct Numbered {
  double number = 0.0;
  int place = 0;

  bool operator==(const Numbered&) const = default;
};

bool Before(const Numbered& a, const Numbered& b) {
  return a.number != b.number ? a.number < b.number : a.place < b.place;
}

void ExpectSorted(std::size_t count, const std::function<double(std::mt19937_64&)>& draw) {
  std::mt19937_64 random(count);
  std::vector<Numbered> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back({.number = draw(random), .place = static_cast<int>(random() % count)});
  }
  std::vector<Numbered> expected = values;
  std::sort(expected.begin(), expected.end(), Before);
  ParallelSort(
      values, [](const Numbered& value) { return value.number; }, Before);
  EXPECT_EQ(values, expected);
}

TEST(ParallelSort, GivesTheOrderOfStdSort) {
  std::normal_distribution<double> normal(0.0, 3.0);
  std::uniform_int_distribution<int> few(-3, 3), exponent(-300, 300);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const std::size_t count : {0UL, 1UL, 499UL, 500UL, 12000UL, 90000UL}) {
    ExpectSorted(count, [&](auto& random) { return normal(random); });
    ExpectSorted(count, [&](auto& random) { return static_cast<double>(few(random)); });
    ExpectSorted(count, [&](auto& random) { return std::pow(10.0, exponent(random)); });
    // Alike in their leading bits, and alike but for the sign.
    ExpectSorted(count, [&](auto& random) { return 1.0 + 1e-12 * normal(random); });
    ExpectSorted(count, [&](auto& random) { return few(random) > 0 ? 0.0 : -0.0; });
    ExpectSorted(count, [&](auto& random) { return few(random) > 0 ? kInfinity : -kInfinity; });
    ExpectSorted(count, [&](auto& random) { return few(random) * 5e-324; });
  }
}

}  // namespace
}  // namespace bregboost::detail
