// Tasks that run on several threads, in any order, and are waited for in the order of their
// arrival.
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

class TaskQueue {
 public:
  // Threads beside the calling one; with none, tasks run in AwaitOldest().
  explicit TaskQueue(std::size_t num_workers);
  // Drops the tasks that have not begun and waits for the others.
  ~TaskQueue();
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  void Submit(std::function<void()> task);

  // Returns when the oldest task that was not yet waited for is done, or throws what it threw;
  // until then the calling thread works too.
  void AwaitOldest();

 private:
  enum class Status { kWaiting, kRunning, kDone };

  struct Task {
    std::function<void()> run;
    Status status = Status::kWaiting;
    std::exception_ptr error;
  };

  Task* NextWaiting();
  void Run(Task& task, std::unique_lock<std::mutex>& lock);
  void Work();
  void Join();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;  // keeps its elements in place while others come and go at the ends
  bool is_closing_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace bregboost::detail
