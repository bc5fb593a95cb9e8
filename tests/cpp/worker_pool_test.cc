#include "detail/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace bregboost::detail {
namespace {

TEST(WorkerPool, RunsEveryPieceOfEveryChainInOrder) {
  WorkerPool pool(5);
  for (const std::size_t at_once : {1U, 2U, 7U}) {
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<int> pieces(5, 0);  // no lock: a chain's pieces never overlap
      std::atomic<int> total = 0;
      std::atomic<int> now = 0;
      std::atomic<int> most = 0;
      pool.Run(at_once, [&](std::size_t chain) {
        ++total;
        const int running = ++now;
        for (int seen = most; running > seen && !most.compare_exchange_weak(seen, running);) {
        }
        --now;
        return ++pieces[chain] < static_cast<int>(chain) + 1;
      });
      EXPECT_EQ(pieces, (std::vector<int>{1, 2, 3, 4, 5}));
      EXPECT_EQ(total, 15);
      EXPECT_LE(most, static_cast<int>(at_once));
    }
  }
}

TEST(WorkerPool, AChainStaysOnItsThread) {
  WorkerPool pool(4);
  std::vector<std::thread::id> ids(4);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<int> pieces(4, 0);
    pool.Run(2, [&](std::size_t chain) {
      if (repeat == 0 && pieces[chain] == 0) ids[chain] = std::this_thread::get_id();
      EXPECT_EQ(ids[chain], std::this_thread::get_id());
      return ++pieces[chain] < 3;
    });
  }
}

TEST(WorkerPool, AnExceptionEndsItsChainAndReachesTheCaller) {
  WorkerPool pool(3);
  std::vector<int> pieces(3, 0);
  const auto run = [&] {
    pool.Run(2, [&](std::size_t chain) {
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
