// Arrays as long as the rows that a boosting round needs while it lasts. Learners of which few run
// at once share them.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace bregboost::detail {

// Contents mean nothing to the next user; sizes are the user's business.
struct RoundBuffers {
  std::vector<float> gradient, hessian;
  std::vector<double> scores;
};

// As many buffers as were ever in use at once.
class RoundBufferPool {
 public:
  std::unique_ptr<RoundBuffers> Take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) {
      idle_.reserve(++num_made_);  // so that GiveBack() never throws
      return std::make_unique<RoundBuffers>();
    }
    std::unique_ptr<RoundBuffers> buffers = std::move(idle_.back());
    idle_.pop_back();
    return buffers;
  }
  void GiveBack(std::unique_ptr<RoundBuffers> buffers) noexcept {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(buffers));
  }

 private:
  std::mutex mutex_;
  std::size_t num_made_ = 0;
  std::vector<std::unique_ptr<RoundBuffers>> idle_;
};

}  // namespace bregboost::detail
