// Workers that are threads of this process.
#pragma once

#include <algorithm>
#include <barrier>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "bregboost/data/row_data.h"
#include "bregboost/data/workers.h"

namespace bregboost::test {

// What the threads have in common.
struct Meeting {
  explicit Meeting(std::size_t size)
      : numbers(size), texts(size), barrier(static_cast<std::ptrdiff_t>(size)) {}

  std::vector<std::vector<double>> numbers;
  std::vector<std::string> texts;
  std::barrier<> barrier;
};

class ThreadWorker final : public Workers {
 public:
  ThreadWorker(Meeting& meeting, std::size_t rank) : meeting_(meeting), rank_(rank) {}

  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return meeting_.numbers.size(); }

  void Sum(std::span<double> values) const override {
    Reduce(values, [](double a, double b) { return a + b; });
  }
  void Max(std::span<double> values) const override {
    Reduce(values, [](double a, double b) { return std::max(a, b); });
  }
  std::vector<std::string> Gather(const std::string& mine) const override {
    meeting_.texts[rank_] = mine;
    meeting_.barrier.arrive_and_wait();
    std::vector<std::string> all = meeting_.texts;
    meeting_.barrier.arrive_and_wait();
    return all;
  }

  std::size_t messages() const { return messages_; }

 private:
  template <class Combine>
  void Reduce(std::span<double> values, const Combine& combine) const {
    ++messages_;
    meeting_.numbers[rank_].assign(values.begin(), values.end());
    meeting_.barrier.arrive_and_wait();
    std::copy(meeting_.numbers[0].begin(), meeting_.numbers[0].end(), values.begin());
    for (std::size_t worker = 1; worker < size(); ++worker) {
      for (std::size_t j = 0; j < values.size(); ++j) {
        values[j] = combine(values[j], meeting_.numbers[worker].at(j));
      }
    }
    meeting_.barrier.arrive_and_wait();
  }

  Meeting& meeting_;
  std::size_t rank_;
  mutable std::size_t messages_ = 0;
};

// work(worker) on a thread for each; rethrows what the first of them threw. All or none must throw:
// the others would wait for ever.
inline void OnWorkers(std::size_t size,
                      const std::function<void(const std::shared_ptr<ThreadWorker>&)>& work) {
  Meeting meeting(size);
  std::vector<std::exception_ptr> errors(size);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        work(std::make_shared<ThreadWorker>(meeting, rank));
      } catch (...) {
        errors[rank] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

// Every size-th row, beginning with row `rank`.
inline std::vector<std::int32_t> RowsOfWorker(std::size_t num_rows, const Workers& workers) {
  std::vector<std::int32_t> rows;
  for (std::size_t i = workers.rank(); i < num_rows; i += workers.size()) {
    rows.push_back(static_cast<std::int32_t>(i));
  }
  return rows;
}

}  // namespace bregboost::test
