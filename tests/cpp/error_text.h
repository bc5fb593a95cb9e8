// What is said about bad input.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace bregboost::testing {

inline std::string ErrorOf(const std::function<void()>& run) {
  try {
    run();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace bregboost::testing
