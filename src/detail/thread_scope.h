// Whose threads our own parallel loops run on, and how many, while a scope lives.
//
// XGBoost's wheel carries an OpenMP runtime of its own. Threads of a runtime that have nothing to
// do spin for some milliseconds before they sleep; with two runtimes that take turns, each spins on
// the cores that the other needs, and a training takes twice its time. So the loops between the
// rounds of a library run on the threads of that library.
#pragma once

#include <omp.h>

namespace bregboost::detail {

// Calls body(data) on `threads` threads, the calling one among them, and returns when all are back.
// It is GOMP_parallel of libgomp, which other OpenMP runtimes have too.
using ParallelRegion = void(void (*body)(void*), void* data, unsigned threads, unsigned flags);

// Of the innermost scope of this thread; nullptr: the runtime that this library is linked with.
inline ParallelRegion*& CurrentRegion() {
  static thread_local ParallelRegion* region = nullptr;
  return region;
}

class ThreadScope {
 public:
  // `threads` <= 0 and `region` nullptr: as outside of the scope.
  explicit ThreadScope(int threads, ParallelRegion* region = nullptr)
      : threads_before_(omp_get_max_threads()), region_before_(CurrentRegion()) {
    if (threads > 0) omp_set_num_threads(threads);
    if (region != nullptr) CurrentRegion() = region;
  }
  ~ThreadScope() {
    omp_set_num_threads(threads_before_);
    CurrentRegion() = region_before_;
  }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int threads_before_;
  ParallelRegion* region_before_;
};

}  // namespace bregboost::detail
