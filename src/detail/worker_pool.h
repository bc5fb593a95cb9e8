// Threads that live as long as the pool, for work that comes again and again in small pieces.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bregboost::detail {

// Chains of pieces: each piece of a chain starts when the one before it is done, and pieces of
// different chains run side by side. A thread goes on with a chain that it ran before if one waits,
// since the libraries keep caches by thread, else with the one that has waited longest.
class WorkerPool {
 public:
  explicit WorkerPool(std::size_t num_threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // piece(chain) runs one piece and says whether the chain has another. Returns when all chains are
  // done; rethrows the first exception, which ends its chain.
  void Run(std::size_t num_chains, const std::function<bool(std::size_t)>& piece);

 private:
  void Work(std::size_t thread);
  std::size_t TakeChain(std::size_t thread);

  std::mutex mutex_;
  std::condition_variable ready_, done_;
  std::deque<std::size_t> queue_;
  std::vector<std::size_t> thread_of_chain_;  // that ran its last piece
  std::size_t running_ = 0;
  bool closing_ = false;
  const std::function<bool(std::size_t)>* piece_ = nullptr;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace bregboost::detail
