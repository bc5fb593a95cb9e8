// How a command ends when it does not succeed: one line on stderr and one of these codes.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace bregboost::cli {

enum class ExitCode {
  kOk = 0,
  kFailed = 1,        // anything that no other code names, such as an error inside a stock library
  kUsage = 2,         // flags, config files, constraint texts
  kData = 3,          // input files: missing, malformed, or without what was asked of them
  kLibrary = 4,       // LightGBM or XGBoost is not installed, or too old
  kOutput = 5,        // something cannot be written
  kNotHeld = 6,       // --require: limits do not hold, or are not certified
  kInterrupted = 130  // Ctrl-C; what there was by then has been written
};

class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// run(), whose complaints about arguments are about `code`'s kind of thing.
void As(ExitCode code, const std::function<void()>& run);

}  // namespace bregboost::cli
