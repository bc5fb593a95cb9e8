// Row loops on the threads of whoever lends them.
#include "detail/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "detail/thread_scope.h"

namespace bregboost::detail {
namespace {

// A runtime of the simplest kind: as many new threads as are asked for.
int regions = 0;
void OnNewThreads(void (*body)(void*), void* data, unsigned threads, unsigned /*flags*/) {
  ++regions;
  std::vector<std::thread> others;
  for (unsigned t = 1; t < threads; ++t) others.emplace_back(body, data);
  body(data);
  for (std::thread& other : others) other.join();
}

// How often each row was visited, and by which chunks.
struct Visits {
  explicit Visits(std::size_t rows) : of_row(rows, 0) {
    ForEachChunk(rows, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++of_row[i];
      const std::lock_guard lock(mutex);
      chunks.insert(chunk);
      threads.insert(std::this_thread::get_id());
    });
  }

  std::vector<int> of_row;
  std::set<std::size_t> chunks;
  std::set<std::thread::id> threads;
  std::mutex mutex;
};

TEST(ParallelTest, BorrowedThreadsVisitEveryRowOnce) {
  for (const std::size_t rows : {1UL, 2047UL, 4096UL, 10000UL, 200000UL}) {
    const Visits own(rows);
    regions = 0;
    const ThreadScope scope(3, &OnNewThreads);
    const Visits borrowed(rows);
    EXPECT_EQ(std::count(borrowed.of_row.begin(), borrowed.of_row.end(), 1),
              static_cast<std::ptrdiff_t>(rows));
    EXPECT_EQ(borrowed.chunks, own.chunks);
    EXPECT_LE(borrowed.threads.size(), 3);
    EXPECT_EQ(regions, NumChunks(rows) > 1 ? 1 : 0);  // a few rows are not worth a region
  }
}

TEST(ParallelTest, ScopesEndWhereTheyBegan) {
  const int threads = omp_get_max_threads();
  {
    const ThreadScope outer(5, &OnNewThreads);
    {
      const ThreadScope inner(/*threads=*/0);
      EXPECT_EQ(CurrentRegion(), &OnNewThreads);
      EXPECT_EQ(omp_get_max_threads(), 5);
    }
    std::thread([] { EXPECT_EQ(CurrentRegion(), nullptr); }).join();  // another thread's own affair
    EXPECT_EQ(CurrentRegion(), &OnNewThreads);
  }
  EXPECT_EQ(CurrentRegion(), nullptr);
  EXPECT_EQ(omp_get_max_threads(), threads);
}

TEST(ParallelTest, EveryTaskRunsOnceAndItsRowLoopsStayOnItsThread) {
  for (ParallelRegion* region : {static_cast<ParallelRegion*>(nullptr), &OnNewThreads}) {
    const ThreadScope scope(3, region);
    std::vector<std::size_t> threads_inside(20, 0), rows_inside(20, 0);
    ForEachTask(20, [&](std::size_t task) {
      const Visits visits(10000);
      threads_inside[task] = visits.threads.size();
      rows_inside[task] +=
          static_cast<std::size_t>(std::count(visits.of_row.begin(), visits.of_row.end(), 1));
    });
    EXPECT_EQ(threads_inside, std::vector<std::size_t>(20, 1));
    EXPECT_EQ(rows_inside, std::vector<std::size_t>(20, 10000));
  }
}

TEST(ParallelTest, TheFirstFailedTaskSpeaksWhenAllAreDone) {
  const ThreadScope scope(3);
  std::atomic<int> done = 0;
  try {
    ForEachTask(8, [&](std::size_t task) {
      ++done;
      if (task == 5 || task == 2) throw std::runtime_error(std::to_string(task));
    });
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "2");
  }
  EXPECT_EQ(done, 8);
}

}  // namespace
}  // namespace bregboost::detail
