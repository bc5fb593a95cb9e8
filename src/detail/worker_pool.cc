#include "detail/worker_pool.h"

#include <algorithm>
#include <utility>

namespace bregboost::detail {

WorkerPool::WorkerPool(std::size_t num_chains)
    : status_(num_chains, Status::kIdle), pieces_(num_chains, 0) {
  try {
    for (std::size_t chain = 0; chain < num_chains; ++chain) {
      threads_.emplace_back([this, chain] { Work(chain); });
    }
  } catch (...) {
    Join();
    throw;
  }
}

WorkerPool::~WorkerPool() { Join(); }

void WorkerPool::Join() {
  {
    const std::scoped_lock lock(mutex_);
    closing_ = true;
  }
  turn_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Run(std::size_t at_once, const std::function<bool(std::size_t)>& piece) {
  std::unique_lock lock(mutex_);
  piece_ = &piece;
  at_once_ = at_once;
  error_ = nullptr;
  std::fill(pieces_.begin(), pieces_.end(), 0);
  std::fill(status_.begin(), status_.end(), Status::kWaiting);
  turn_.notify_all();
  done_.wait(lock, [this] {
    return std::all_of(status_.begin(), status_.end(),
                       [](Status status) { return status == Status::kIdle; });
  });
  piece_ = nullptr;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

bool WorkerPool::IsNext(std::size_t chain) const {
  if (status_[chain] != Status::kWaiting || running_ >= at_once_) return false;
  for (std::size_t other = 0; other < status_.size(); ++other) {
    if (status_[other] != Status::kWaiting || other == chain) continue;
    if (pieces_[other] < pieces_[chain]) return false;
    if (pieces_[other] == pieces_[chain] && other < chain) return false;
  }
  return true;
}

void WorkerPool::Work(std::size_t chain) {
  std::unique_lock lock(mutex_);
  for (;;) {
    turn_.wait(lock, [&] { return closing_ || IsNext(chain); });
    if (closing_) return;
    status_[chain] = Status::kRunning;
    ++running_;
    turn_.notify_all();  // the next in line may have a core as well
    lock.unlock();
    bool more = false;
    std::exception_ptr error;
    try {
      more = (*piece_)(chain);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    --running_;
    ++pieces_[chain];
    if (error && !error_) error_ = error;
    status_[chain] = more ? Status::kWaiting : Status::kIdle;
    turn_.notify_all();
    done_.notify_all();
  }
}

}  // namespace bregboost::detail
