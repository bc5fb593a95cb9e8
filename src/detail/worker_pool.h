// Threads that live as long as the pool, one for each of a few chains of work.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bregboost::detail {

// A chain is a sequence of pieces that all run on the chain's own thread: XGBoost keeps prediction
// caches and random numbers by thread, so that a booster must not wander. At most `at_once` pieces
// run at a time, and of the chains that wait the one that has done least goes first, which keeps
// all cores busy to the end.
class WorkerPool {
 public:
  explicit WorkerPool(std::size_t num_chains);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // piece(chain) runs one piece and says whether the chain has another. Returns when all chains are
  // done; rethrows the first exception, which ends its chain.
  void Run(std::size_t at_once, const std::function<bool(std::size_t)>& piece);

 private:
  enum class Status { kIdle, kWaiting, kRunning };

  void Work(std::size_t chain);
  void Join();
  bool IsNext(std::size_t chain) const;

  std::mutex mutex_;
  std::condition_variable turn_, done_;
  std::vector<Status> status_;
  std::vector<std::size_t> pieces_;  // done by each chain in this run
  std::size_t running_ = 0;
  std::size_t at_once_ = 1;
  bool closing_ = false;
  const std::function<bool(std::size_t)>* piece_ = nullptr;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace bregboost::detail
