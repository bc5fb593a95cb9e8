#include "calibrate/detail/line_sweep.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "calibrate/detail/parallel_sort.h"
#include "calibrate/detail/same_place.h"
#include "detail/parallel.h"

namespace bregboost::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Change {
  double t = 0.0;
  std::uint32_t row = 0;
  std::uint16_t from = 0, to = 0;
};

struct Line {
  double height = 0.0;  // at t = 0
  double from = 0.0;    // the t at which it becomes the highest
  std::uint16_t k = 0;
};

// The lines of one row that are highest somewhere, from t = -infinity on.
class Envelope {
 public:
  Envelope(std::span<const double> offsets, std::span<const double> direction)
      : offsets_(offsets), direction_(direction), by_slope_(offsets.size()) {
    std::iota(by_slope_.begin(), by_slope_.end(), std::uint16_t{0});
    std::stable_sort(by_slope_.begin(), by_slope_.end(),
                     [&](std::uint16_t a, std::uint16_t b) { return direction[a] < direction[b]; });
  }

  void Build(const double* scores) {
    stack_.clear();
    for (const std::uint16_t k : by_slope_) {
      const Line line{.height = scores[k] + offsets_[k], .from = -kInfinity, .k = k};
      Push(line);
    }
  }

  const std::vector<Line>& lines() const { return stack_; }

 private:
  void Push(Line line) {
    while (!stack_.empty()) {
      const Line& top = stack_.back();
      const double steeper = direction_[line.k] - direction_[top.k];
      if (steeper > 0.0) {
        line.from = (top.height - line.height) / steeper;
        if (line.from > top.from) break;
      } else if (line.height <= top.height) {
        return;  // parallel and never above
      }
      stack_.pop_back();
      line.from = -kInfinity;
    }
    stack_.push_back(line);
  }

  std::span<const double> offsets_, direction_;
  std::vector<std::uint16_t> by_slope_;
  std::vector<Line> stack_;
};

// Along the axis of one class, which most searches are: it becomes the highest once, where it
// overtakes the first highest of the others.
class AxisEnvelope {
 public:
  AxisEnvelope(std::span<const double> offsets, std::size_t axis) : offsets_(offsets), axis_(axis) {
    lines_[1].k = static_cast<std::uint16_t>(axis);
  }

  void Build(const double* scores) {
    double highest = -kInfinity;
    std::size_t other = 0;
    for (std::size_t k = 0; k < offsets_.size(); ++k) {
      const double height = scores[k] + offsets_[k];
      if (k == axis_ || height <= highest) continue;
      highest = height;
      other = k;
    }
    lines_[0] = {.height = highest, .from = -kInfinity, .k = static_cast<std::uint16_t>(other)};
    lines_[1].from = highest - (scores[axis_] + offsets_[axis_]);
  }

  const std::array<Line, 2>& lines() const { return lines_; }

 private:
  std::span<const double> offsets_;
  std::size_t axis_;
  std::array<Line, 2> lines_;
};

// The class whose axis `direction` is, if it is one.
std::optional<std::size_t> AxisOf(std::span<const double> direction) {
  std::optional<std::size_t> axis;
  for (std::size_t k = 0; k < direction.size(); ++k) {
    if (direction[k] == 0.0) continue;
    if (axis || direction[k] != 1.0) return std::nullopt;
    axis = k;
  }
  return axis;
}

struct Changes {
  std::vector<Change> sorted;
  std::vector<double> predicted;  // weight of each (cell, prediction) at t = -reach
};

// `empty` is an envelope to build that of every row with.
template <class RowEnvelope>
Changes FindChanges(const OffsetRows& rows, const RowEnvelope& empty, double reach) {
  const std::size_t chunks = NumChunks(rows.size());
  Changes result;
  result.predicted.assign(rows.num_cells * rows.num_classes, 0.0);
  std::vector<std::vector<double>> predicted(chunks, result.predicted);
  std::vector<std::vector<Change>> changes(chunks);
  ForEachChunk(rows.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    RowEnvelope envelope = empty;
    changes[chunk].reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
      envelope.Build(rows.row(i));
      const auto& lines = envelope.lines();
      std::size_t j = 1;
      while (j < lines.size() && lines[j].from < -reach) ++j;
      predicted[chunk][rows.cells[i] * rows.num_classes + lines[j - 1].k] += rows.weights[i];
      for (; j < lines.size() && lines[j].from <= reach; ++j) {
        changes[chunk].push_back({.t = lines[j].from,
                                  .row = static_cast<std::uint32_t>(i),
                                  .from = lines[j - 1].k,
                                  .to = lines[j].k});
      }
    }
  });
  AddInOrder(predicted, result.predicted);
  for (const std::vector<Change>& part : changes) {
    result.sorted.insert(result.sorted.end(), part.begin(), part.end());
  }
  const auto earlier = [](const Change& a, const Change& b) {
    if (a.t != b.t) return a.t < b.t;
    return a.row != b.row ? a.row < b.row : a.from < b.from;
  };
  ParallelSort(
      result.sorted, [](const Change& change) { return change.t; }, earlier);
  return result;
}

// Neighbouring intervals that stand alike.
struct Run {
  double low = -kInfinity, high = -kInfinity;
  Standing standing;

  double DistanceFromZero() const { return std::max({low, -high, 0.0}); }
};

// Keeps the best run while intervals come in ascending order.
class BestRun {
 public:
  void Add(double low, double high, const Standing& standing) {
    if (open_ && Same(current_.standing, standing)) {
      current_.high = high;
      return;
    }
    Close();
    current_ = {.low = low, .high = high, .standing = standing};
    open_ = true;
  }

  const Run& Finish() {
    Close();
    return best_;
  }

 private:
  void Close() {
    if (!open_) return;
    const bool wins = !found_ || Better(current_.standing, best_.standing) ||
                      (!Better(best_.standing, current_.standing) &&
                       current_.DistanceFromZero() < best_.DistanceFromZero());
    if (wins) best_ = current_;
    found_ = true;
  }

  Run current_, best_;
  bool open_ = false, found_ = false;
};

// The middle of the interval that has the middle of the run.
double Inside(const Run& run, const std::vector<Change>& sorted) {
  constexpr double kBeyond = 1.0;
  if (std::isinf(run.low) && std::isinf(run.high)) return 0.0;
  if (std::isinf(run.low)) return run.high - kBeyond;
  if (std::isinf(run.high)) return run.low + kBeyond;
  const double middle = 0.5 * (run.low + run.high);
  const auto next = std::upper_bound(sorted.begin(), sorted.end(), middle,
                                     [](double t, const Change& change) { return t < change.t; });
  return next == sorted.begin() || next == sorted.end() ? middle
                                                        : 0.5 * (std::prev(next)->t + next->t);
}

}  // namespace

LineBest SweepLine(const OffsetRows& rows, std::span<const double> offsets,
                   std::span<const double> direction, double reach, const DecisionSums& sums,
                   MeritTracker& tracker) {
  const std::optional<std::size_t> axis = AxisOf(direction);
  const Changes changes = axis ? FindChanges(rows, AxisEnvelope(offsets, *axis), reach)
                               : FindChanges(rows, Envelope(offsets, direction), reach);
  tracker.Reset(sums.Of(changes.predicted));
  LineBest best;
  BestRun runs;
  double low = -reach;
  std::size_t at = 0;
  while (true) {
    const double high = at < changes.sorted.size() ? changes.sorted[at].t : reach;
    runs.Add(low, high, tracker.Evaluate());
    ++best.evaluations;
    if (at == changes.sorted.size()) break;
    do {
      const Change& change = changes.sorted[at];
      tracker.Move(rows.cells[change.row], change.from, change.to, rows.weights[change.row]);
      low = change.t;
      ++at;
    } while (at < changes.sorted.size() && SamePlace(high, changes.sorted[at].t));
  }
  const Run& run = runs.Finish();
  best.t = Inside(run, changes.sorted);
  best.standing = run.standing;
  return best;
}

}  // namespace bregboost::detail
