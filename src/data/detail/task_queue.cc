#include "data/detail/task_queue.h"

#include <utility>

namespace bregboost::detail {

TaskQueue::TaskQueue(std::size_t num_workers) {
  try {
    for (std::size_t i = 0; i < num_workers; ++i) workers_.emplace_back([this] { Work(); });
  } catch (...) {
    Join();
    throw;
  }
}

TaskQueue::~TaskQueue() { Join(); }

void TaskQueue::Join() {
  {
    const std::scoped_lock lock(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void TaskQueue::Submit(std::function<void()> task) {
  {
    const std::scoped_lock lock(mutex_);
    tasks_.push_back({.run = std::move(task)});
  }
  changed_.notify_all();
}

void TaskQueue::AwaitOldest() {
  std::unique_lock lock(mutex_);
  Task& oldest = tasks_.front();
  while (oldest.status != Status::kDone) {
    if (Task* const task = NextWaiting()) {
      Run(*task, lock);
    } else {
      changed_.wait(lock);
    }
  }
  const std::exception_ptr error = std::move(oldest.error);
  tasks_.pop_front();
  if (error) std::rethrow_exception(error);
}

TaskQueue::Task* TaskQueue::NextWaiting() {
  for (Task& task : tasks_) {
    if (task.status == Status::kWaiting) return &task;
  }
  return nullptr;
}

void TaskQueue::Run(Task& task, std::unique_lock<std::mutex>& lock) {
  task.status = Status::kRunning;
  lock.unlock();
  std::exception_ptr error;
  try {
    task.run();
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  task.error = std::move(error);
  task.status = Status::kDone;
  changed_.notify_all();
}

void TaskQueue::Work() {
  std::unique_lock lock(mutex_);
  while (!is_closing_) {
    if (Task* const task = NextWaiting()) {
      Run(*task, lock);
    } else {
      changed_.wait(lock);
    }
  }
}

}  // namespace bregboost::detail
