// Row loops on the threads of whoever lends them.
#include "detail/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <set>
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

}  // namespace
}  // namespace bregboost::detail
