// Row loops in parallel whose results do not depend on the number of threads: rows are cut into
// chunks by their number alone, and partial sums are added in the order of the chunks.
#pragma once

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <vector>

#include "detail/thread_scope.h"

namespace bregboost::detail {

inline std::size_t NumChunks(std::size_t rows) {
  constexpr std::size_t kRowsPerChunk = 2048;
  constexpr std::size_t kMost = 64;
  return std::clamp<std::size_t>(rows / kRowsPerChunk, 1, kMost);
}

// run(chunk) for every chunk, on the threads of `region`.
template <class Run>
void ForEachChunkOn(ParallelRegion& region, std::size_t chunks, const Run& run) {
  struct Shared {
    const Run& run;
    std::size_t chunks;
    std::atomic<std::size_t> next = 0;
  };
  Shared shared{.run = run, .chunks = chunks};
  const auto work = [](void* data) {
    auto& mine = *static_cast<Shared*>(data);
    for (std::size_t chunk = mine.next++; chunk < mine.chunks; chunk = mine.next++) mine.run(chunk);
  };
  region(work, &shared, static_cast<unsigned>(omp_get_max_threads()), /*flags=*/0);
}

// body(chunk, first_row, end_row); it must not throw. A single chunk runs on the calling thread,
// outside of any parallel region unless `always_region` asks for one.
template <class Body>
void ForEachChunk(std::size_t rows, const Body& body, bool always_region = false) {
  const std::size_t chunks = NumChunks(rows);
  const auto run = [&](std::size_t chunk) {
    body(chunk, rows * chunk / chunks, rows * (chunk + 1) / chunks);
  };
  ParallelRegion* region = CurrentRegion();
  if (region != nullptr && chunks > 1) {
    ForEachChunkOn(*region, chunks, run);
    return;
  }
#pragma omp parallel for schedule(static) if (chunks > 1 || always_region)
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) run(chunk);
}

// body(task) for every task, on as many threads as there are. Row loops inside run on the task's
// own thread, but for a single task, which has them all. Rethrows what the first failed task threw,
// when all are done.
template <class Body>
void ForEachTask(std::size_t tasks, const Body& body) {
  if (tasks == 1) {
    body(std::size_t{0});
    return;
  }
  std::vector<std::exception_ptr> errors(tasks);
  const auto run = [&](std::size_t task) {
    const ThreadScope alone(/*threads=*/1);
    try {
      body(task);
    } catch (...) {
      errors[task] = std::current_exception();
    }
  };
  if (ParallelRegion* region = CurrentRegion(); region != nullptr) {
    ForEachChunkOn(*region, tasks, run);
  } else {
#pragma omp parallel for schedule(dynamic)
    for (std::size_t task = 0; task < tasks; ++task) run(task);
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

// total := sum of the chunks' partial sums, in order.
inline void AddInOrder(const std::vector<std::vector<double>>& partial,
                       std::vector<double>& total) {
  for (const std::vector<double>& part : partial) {
    for (std::size_t j = 0; j < total.size(); ++j) total[j] += part[j];
  }
}

}  // namespace bregboost::detail
