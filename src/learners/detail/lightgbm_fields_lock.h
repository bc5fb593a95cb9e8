// LightGBM has no way to give a booster scores to start from but the data set's own field. While it
// is lent to one booster, others must neither read it nor take rows of the data set.
#pragma once

#include <mutex>

namespace bregboost::detail {

inline std::unique_lock<std::mutex> LockLightGbmFields() {
  static std::mutex mutex;
  return std::unique_lock(mutex);
}

}  // namespace bregboost::detail
