// A stock library that is missing, too old or damaged.
#pragma once

#include <stdexcept>
#include <string>

namespace bregboost {

// The message says what was looked for, where, and how to install it.
class LibraryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace bregboost
