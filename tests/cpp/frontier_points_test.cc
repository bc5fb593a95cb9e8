// Which points of a frontier are worth choosing, against the definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "bregboost/pipeline/frontier.h"

namespace bregboost {
namespace {

// Two numbers to be small: at least as good in both.
using Pair = std::pair<double, double>;
bool AtLeastAsGood(const Pair& a, const Pair& b) {
  return a.first <= b.first && a.second <= b.second;
}

TEST(FrontierPoints, ThoseWorthChoosingAreTheMinimalOnesEachOnce) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> small(0, 3);
  for (int repeat = 0; repeat < 2000; ++repeat) {
    std::vector<PointValue> points;
    for (int p = 0; p < 6; ++p) {
      points.push_back({.cost = static_cast<double>(small(random)),
                        .violation = static_cast<double>(small(random) / 2),
                        .tightness = static_cast<double>(small(random))});
    }
    for (const bool sweeps_rho : {false, true}) {
      const auto pair_of = [&](const PointValue& point) {
        return Pair(point.cost, sweeps_rho ? point.violation : -point.tightness);
      };
      std::set<Pair> candidates;
      for (const PointValue& point : points) {
        if (sweeps_rho || point.violation == 0.0) candidates.insert(pair_of(point));
      }
      std::set<Pair> minimal;
      for (const Pair& candidate : candidates) {
        const bool is_beaten = std::any_of(candidates.begin(), candidates.end(), [&](auto& other) {
          return other != candidate && AtLeastAsGood(other, candidate);
        });
        if (!is_beaten) minimal.insert(candidate);
      }
      const std::vector<bool> dominated = FindDominated(points, sweeps_rho);
      std::set<Pair> chosen;
      for (std::size_t p = 0; p < points.size(); ++p) {
        if (dominated[p]) continue;
        EXPECT_TRUE(sweeps_rho || points[p].violation == 0.0);
        EXPECT_TRUE(chosen.insert(pair_of(points[p])).second) << "one of two that are alike";
      }
      EXPECT_EQ(chosen, minimal);
    }
  }
}

}  // namespace
}  // namespace bregboost
