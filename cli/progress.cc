#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <utility>

namespace bregboost::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<bool> ctrl_c = false;

void OnCtrlC(int) {
  ctrl_c = true;
  std::signal(SIGINT, SIG_DFL);
}

std::string Duration(double seconds) {
  if (seconds < 60.0) return fmt::format("{:.0f} s", seconds);
  if (seconds < 3600.0) return fmt::format("{:.0f} min", seconds / 60.0);
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

// The largest three, since thousands fit no line.
std::string Multipliers(std::vector<double> values) {
  constexpr std::size_t kShown = 3;
  std::sort(values.begin(), values.end(), std::greater<>());
  const bool more = values.size() > kShown;
  values.resize(std::min(values.size(), kShown));
  std::string text;
  for (const double value : values) text += fmt::format("{}{:.3g}", text.empty() ? "" : " ", value);
  return text + (more ? " ..." : "");
}

}  // namespace

Progress::Progress(std::string what, std::int64_t steps, bool quiet)
    : what_(std::move(what)),
      steps_(steps),
      quiet_(quiet),
      is_terminal_(::isatty(STDERR_FILENO) != 0),
      start_(Clock::now()),
      last_(start_) {
  std::signal(SIGINT, OnCtrlC);
}

Progress::~Progress() {
  if (!quiet_ && is_terminal_ && shown_ > 0) fmt::print(stderr, "\r\x1b[K");
}

bool Progress::interrupted() { return ctrl_c; }

SolveHooks Progress::hooks() {
  SolveHooks hooks;
  hooks.interrupt = &ctrl_c;
  if (!quiet_) {
    hooks.on_iteration = [this](const IterationStats& stats) {
      Show(stats);
      return true;
    };
  }
  return hooks;
}

std::string Progress::Line(const IterationStats& stats) const {
  std::string line = what_;
  line +=
      steps_ > 0 ? fmt::format("  step {}/{}", stats.k, steps_) : fmt::format("  step {}", stats.k);
  line += fmt::format("  objective {:.4f}", stats.objective);
  if (!stats.multipliers.empty()) {
    line += fmt::format("  worst violation {:.4f}  multipliers {}", stats.exact_violation,
                        Multipliers(stats.multipliers));
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  if (steps_ > 0 && stats.k > 0 && stats.k < steps_) {
    const auto left = static_cast<double>(steps_ - stats.k) / static_cast<double>(stats.k);
    line += fmt::format("  about {} left", Duration(seconds * left));
  }
  return line;
}

void Progress::Show(const IterationStats& stats) {
  const auto now = Clock::now();
  const auto since = std::chrono::duration<double>(now - last_).count();
  if (is_terminal_) {
    constexpr double kSecondsBetween = 0.1;
    if (shown_ > 0 && since < kSecondsBetween) return;
    fmt::print(stderr, "\r\x1b[K{}", Line(stats));
    std::fflush(stderr);
  } else {
    constexpr double kSecondsBetween = 10.0;
    const bool is_last = steps_ > 0 && stats.k == steps_;
    if (stats.k != 0 && !is_last && since < kSecondsBetween) return;
    fmt::print(stderr, "{}\n", Line(stats));
  }
  ++shown_;
  last_ = now;
}

}  // namespace bregboost::cli
