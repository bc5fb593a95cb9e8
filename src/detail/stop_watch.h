// Seconds that the stages of a computation take.
#pragma once

#include <chrono>

namespace bregboost::detail {

class StopWatch {
 public:
  // Since the watch was made, or since the last lap.
  double Lap() {
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

}  // namespace bregboost::detail
