// What a long training says about itself on stderr, and how Ctrl-C reaches it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "bregboost/solve/abpp.h"

namespace bregboost::cli {

// One line that is written over on a terminal; a line now and then where stderr goes elsewhere.
class Progress {
 public:
  // `steps`: at most so many; 0 if that is not known.
  Progress(std::string what, std::int64_t steps, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // To be told of every iteration, and to end the training at the first Ctrl-C; the second ends the
  // program.
  SolveHooks hooks();

  static bool interrupted();

 private:
  void Show(const IterationStats& stats);
  std::string Line(const IterationStats& stats) const;

  std::string what_;
  std::int64_t steps_, shown_ = 0;
  bool quiet_, is_terminal_;
  std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace bregboost::cli
