#include "detail/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace bregboost::detail {
namespace {

TEST(WorkerPool, RunsEveryPieceOfEveryChainInOrder) {
  for (const std::size_t threads : {1U, 2U, 7U}) {
    WorkerPool pool(threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<int> pieces(5, 0);  // no lock: a chain's pieces never overlap
      std::atomic<int> total = 0;
      pool.Run(5, [&](std::size_t chain) {
        ++total;
        return ++pieces[chain] < static_cast<int>(chain) + 1;
      });
      EXPECT_EQ(pieces, (std::vector<int>{1, 2, 3, 4, 5}));
      EXPECT_EQ(total, 15);
    }
  }
}

TEST(WorkerPool, AnExceptionEndsItsChainAndReachesTheCaller) {
  WorkerPool pool(2);
  std::vector<int> pieces(3, 0);
  const auto run = [&] {
    pool.Run(3, [&](std::size_t chain) {
      if (chain == 1) throw std::runtime_error("chain 1");
      return ++pieces[chain] < 4;
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_EQ(pieces, (std::vector<int>{4, 0, 4}));
  pool.Run(3, [&](std::size_t chain) { return ++pieces[chain] < 0; });  // still works
  EXPECT_EQ(pieces, (std::vector<int>{5, 1, 5}));
}

}  // namespace
}  // namespace bregboost::detail
