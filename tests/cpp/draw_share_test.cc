#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>

#include "bregboost/data/folds.h"

namespace bregboost {
namespace {

TEST(DrawShare, TakesItsShareOfEveryStratum) {
  std::vector<std::uint32_t> strata;
  const std::vector<std::size_t> sizes = {1000, 37, 500, 12, 3};
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    strata.insert(strata.end(), sizes[s], static_cast<std::uint32_t>(s));
  }
  for (const double share : {0.1, 0.2, 0.37, 0.5, 0.9}) {
    const std::vector<std::uint8_t> drawn = DrawShare(strata, share, 7);
    std::vector<double> taken(sizes.size(), 0.0);
    for (std::size_t i = 0; i < strata.size(); ++i) taken[strata[i]] += drawn[i];
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      EXPECT_NEAR(taken[s], share * static_cast<double>(sizes[s]), 1.0) << share;
    }
    const double all = std::accumulate(taken.begin(), taken.end(), 0.0);
    EXPECT_NEAR(all, share * static_cast<double>(strata.size()), 0.5 + 1e-9);
  }
}

TEST(DrawShare, IsDrawnByTheSeed) {
  const std::vector<std::uint32_t> strata(200, 0);
  EXPECT_EQ(DrawShare(strata, 0.3, 1), DrawShare(strata, 0.3, 1));
  EXPECT_NE(DrawShare(strata, 0.3, 1), DrawShare(strata, 0.3, 2));
  EXPECT_EQ(DrawShare(strata, 0.0, 1), std::vector<std::uint8_t>(200, 0));
  EXPECT_THROW(DrawShare(strata, 1.0, 1), std::invalid_argument);
  EXPECT_THROW(DrawShare(strata, std::nan(""), 1), std::invalid_argument);
}

}  // namespace
}  // namespace bregboost
