#include "detail/worker_pool.h"

#include <utility>

namespace bregboost::detail {

WorkerPool::WorkerPool(std::size_t num_threads) {
  for (std::size_t t = 0; t < num_threads; ++t) threads_.emplace_back([this] { Work(); });
}

WorkerPool::~WorkerPool() {
  {
    const std::scoped_lock lock(mutex_);
    closing_ = true;
  }
  ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Run(std::size_t num_chains, const std::function<bool(std::size_t)>& piece) {
  std::unique_lock lock(mutex_);
  piece_ = &piece;
  error_ = nullptr;
  for (std::size_t chain = 0; chain < num_chains; ++chain) queue_.push_back(chain);
  ready_.notify_all();
  done_.wait(lock, [this] { return queue_.empty() && running_ == 0; });
  piece_ = nullptr;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void WorkerPool::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ready_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    if (closing_) return;
    const std::size_t chain = queue_.front();
    queue_.pop_front();
    ++running_;
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
    if (error && !error_) error_ = error;
    if (more) {
      queue_.push_back(chain);
      ready_.notify_one();
    }
    if (queue_.empty() && running_ == 0) done_.notify_all();
  }
}

}  // namespace bregboost::detail
