#include "failure.h"

#include <stdexcept>

namespace bregboost::cli {

void As(ExitCode code, const std::function<void()>& run) {
  try {
    run();
  } catch (const std::invalid_argument& error) {
    throw Failure(code, error.what());
  }
}

}  // namespace bregboost::cli
