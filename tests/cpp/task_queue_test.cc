#include "data/detail/task_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace bregboost::detail {
namespace {

TEST(TaskQueue, TasksAreDoneWhenAwaited) {
  for (const std::size_t workers : {0U, 1U, 3U}) {
    std::vector<int> done(200, 0);
    TaskQueue queue(workers);
    for (int& flag : done) queue.Submit([&flag] { ++flag; });
    for (const int& flag : done) {
      queue.AwaitOldest();
      EXPECT_EQ(flag, 1);
    }
  }
}

TEST(TaskQueue, ThrowsWhatTheTaskThrew) {
  for (const std::size_t workers : {0U, 2U}) {
    TaskQueue queue(workers);
    std::atomic<int> runs = 0;
    queue.Submit([&] { ++runs; });
    queue.Submit([] { throw std::invalid_argument("second"); });
    queue.Submit([&] { ++runs; });
    EXPECT_NO_THROW(queue.AwaitOldest());
    EXPECT_THROW(queue.AwaitOldest(), std::invalid_argument);
    EXPECT_NO_THROW(queue.AwaitOldest());
    EXPECT_EQ(runs, 2);
  }
}

TEST(TaskQueue, DropsTasksThatHaveNotBegun) {
  std::atomic<int> runs = 0;
  {
    TaskQueue queue(0);
    queue.Submit([&] { ++runs; });
    queue.Submit([&] { ++runs; });
    queue.AwaitOldest();
  }
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace bregboost::detail
