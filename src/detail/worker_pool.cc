#include "detail/worker_pool.h"

#include <algorithm>
#include <utility>

namespace bregboost::detail {

WorkerPool::WorkerPool(std::size_t num_threads) {
  for (std::size_t t = 0; t < num_threads; ++t) threads_.emplace_back([this, t] { Work(t); });
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
  thread_of_chain_.resize(num_chains, threads_.size());
  ready_.notify_all();
  done_.wait(lock, [this] { return queue_.empty() && running_ == 0; });
  piece_ = nullptr;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

std::size_t WorkerPool::TakeChain(std::size_t thread) {
  auto next = std::find_if(queue_.begin(), queue_.end(),
                           [&](std::size_t chain) { return thread_of_chain_[chain] == thread; });
  if (next == queue_.end()) next = queue_.begin();
  const std::size_t chain = *next;
  queue_.erase(next);
  thread_of_chain_[chain] = thread;
  return chain;
}

void WorkerPool::Work(std::size_t thread) {
  std::unique_lock lock(mutex_);
  for (;;) {
    ready_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    if (closing_) return;
    const std::size_t chain = TakeChain(thread);
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
