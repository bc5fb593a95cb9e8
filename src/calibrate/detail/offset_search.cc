#include "calibrate/detail/offset_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "calibrate/detail/line_sweep.h"
#include "detail/parallel.h"

namespace bregboost::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A sweep takes time in proportion to rows * classes; this much of both takes a second or two.
// Short sweeps, those of many rows, have less to sort.
constexpr double kMostWork = 4e7;
constexpr double kMostWorkOfShortSweeps = 1e8;
constexpr std::size_t kManyRows = 100'000;
constexpr double kShortReach = 0.5;

const OffsetPoint& BestOf(const std::vector<OffsetPoint>& points) {
  std::size_t best = 0;
  for (std::size_t j = 1; j < points.size(); ++j) {
    if (Better(points[j].standing, points[best].standing)) best = j;
  }
  return points[best];
}

std::vector<double> Axis(std::size_t k, std::size_t classes) {
  std::vector<double> axis(classes, 0.0);
  axis[k] = 1.0;
  return axis;
}

// Until nothing improves, or the judge has made this many sweeps.
OffsetPoint AlongAxes(OffsetPoint point, const std::vector<std::size_t>& moved,
                      std::int64_t most_sweeps, OffsetJudge& judge) {
  const std::size_t classes = judge.rows().num_classes;
  const bool shortens = judge.rows().size() > kManyRows;
  std::size_t since_improvement = 0;
  for (std::size_t step = 0; since_improvement < moved.size() && judge.sweeps() < most_sweeps;
       ++step) {
    const double reach = shortens && step >= moved.size() ? kShortReach : kInfinity;
    const std::size_t k = moved[step % moved.size()];
    OffsetPoint found = judge.AlongLine(point, Axis(k, classes), reach);
    ++since_improvement;
    if (!Better(found.standing, point.standing)) continue;
    point = std::move(found);
    since_improvement = 0;
  }
  return point;
}

class Search {
 public:
  Search(const std::vector<std::size_t>& moved, std::uint64_t seed, double effort,
         OffsetJudge& judge)
      : judge_(judge),
        moved_(moved),
        random_(seed),
        classes_(judge.rows().num_classes),
        sweeps_before_(judge.sweeps()),
        many_rows_(judge.rows().size() > kManyRows),
        at_once_(many_rows_ ? 1 : kPointsAtOnce) {
    const auto work = static_cast<double>(judge.rows().size() * classes_);
    const double most_work = many_rows_ ? kMostWorkOfShortSweeps : kMostWork;
    const auto least = static_cast<std::int64_t>(4 * classes_);
    const std::int64_t most = many_rows_ ? 4 * least : std::max(least, kMostSweeps);
    most_sweeps_ = std::clamp(static_cast<std::int64_t>(most_work / (work + 1.0)), least, most);
    most_sweeps_ =
        std::max(least, static_cast<std::int64_t>(effort * static_cast<double>(most_sweeps_)));
  }

  OffsetPoint Run(const std::vector<std::vector<double>>& starts) {
    if (!many_rows_) return AlongAll(FromPerturbed(Followed(starts, most_sweeps_)));
    std::vector<OffsetPoint> points;
    for (const std::vector<double>& start : starts) points.push_back(judge_.At(start));
    return AlongAll(AlongAxes(BestOf(points), moved_, sweeps_before_ + most_sweeps_, judge_));
  }

 private:
  static constexpr std::int64_t kMostSweeps = 4000;

  // A number of its own, not that of the threads: the result is the same on any of them. Rows in
  // plenty keep the threads busy one line after the other.
  static constexpr std::size_t kPointsAtOnce = 4;

  // The rest is for the directions that are no axes.
  static constexpr double kShareOfRestarts = 0.7;

  std::int64_t Left(std::int64_t most_sweeps) const {
    return most_sweeps - (judge_.sweeps() - sweeps_before_);
  }

  double Uniform() { return 0x1p-52 * static_cast<double>(random_() >> 11U) - 1.0; }  // [-1, 1)

  std::vector<double> Perturbed(std::vector<double> offsets, double spread) {
    for (const std::size_t k : moved_) offsets[k] += spread * Uniform();
    return offsets;
  }

  // improve(j, judge) for j < count, on judges of their own.
  template <class Improve>
  std::vector<OffsetPoint> AtOnce(std::size_t count, const Improve& improve) {
    std::vector<OffsetJudge> judges(count, judge_.Another());
    std::vector<OffsetPoint> found(count);
    ForEachTask(count, [&](std::size_t j) { found[j] = improve(j, judges[j]); });
    for (const OffsetJudge& judge : judges) judge_.Count(judge);
    return found;
  }

  // The best of what the axes lead to from each of these offsets.
  OffsetPoint Followed(const std::vector<std::vector<double>>& starts, std::int64_t most_sweeps) {
    const auto least = static_cast<std::int64_t>(moved_.size());
    const auto count = static_cast<std::int64_t>(starts.size());
    const std::int64_t each = std::max(least, Left(most_sweeps) / count);
    return BestOf(AtOnce(starts.size(), [&](std::size_t j, OffsetJudge& judge) {
      return AlongAxes(judge.At(starts[j]), moved_, each, judge);
    }));
  }

  // Large and small steps in turn: the first leave valleys, the last repair what the axes miss.
  OffsetPoint FromPerturbed(OffsetPoint best) {
    constexpr std::array kSpreads = {2.0, 0.5, 0.1};
    const auto most_sweeps =
        static_cast<std::int64_t>(kShareOfRestarts * static_cast<double>(most_sweeps_));
    const std::size_t most_in_vain = 6 * moved_.size();
    std::size_t in_vain = 0, restarts = 0;
    while (in_vain < most_in_vain && Left(most_sweeps) > 0) {
      std::vector<std::vector<double>> starts(at_once_);
      for (std::vector<double>& start : starts) {
        start = Perturbed(best.offsets, kSpreads[restarts++ % kSpreads.size()]);
      }
      OffsetPoint found = Followed(starts, most_sweeps);
      in_vain += at_once_;
      if (!Better(found.standing, best.standing)) continue;
      best = std::move(found);
      in_vain = 0;
    }
    return best;
  }

  OffsetPoint AlongAll(OffsetPoint point) {
    bool improved = true;
    while (improved && Left(most_sweeps_) > 0) {
      improved = AlongSome(Pairs(), point);
      improved = AlongSome(RandomDirections(), point) || improved;
      if (improved) point = AlongAxes(point, moved_, sweeps_before_ + most_sweeps_, judge_);
    }
    return point;
  }

  // True if a line had something better.
  bool AlongSome(const std::vector<std::vector<double>>& directions, OffsetPoint& point) {
    const double reach = many_rows_ ? kShortReach : kInfinity;
    bool improved = false;
    for (std::size_t first = 0; first < directions.size(); first += at_once_) {
      if (Left(most_sweeps_) <= 0) break;
      const std::size_t count = std::min(at_once_, directions.size() - first);
      OffsetPoint found = BestOf(AtOnce(count, [&](std::size_t j, OffsetJudge& judge) {
        return judge.AlongLine(point, directions[first + j], reach);
      }));
      if (!Better(found.standing, point.standing)) continue;
      point = std::move(found);
      improved = true;
    }
    return improved;
  }

  std::vector<std::vector<double>> Pairs() const {
    std::vector<std::vector<double>> directions;
    for (std::size_t a = 0; a < moved_.size(); ++a) {
      for (std::size_t b = a + 1; b < moved_.size(); ++b) {
        for (const double sign : {1.0, -1.0}) {
          if (classes_ == 3 && sign > 0.0) continue;  // two together: the third alone
          directions.push_back(Axis(moved_[a], classes_));
          directions.back()[moved_[b]] = sign;
        }
      }
    }
    if (moved_.size() > 2 && moved_.size() < classes_) {  // against all others
      directions.emplace_back(classes_, 0.0);
      for (const std::size_t k : moved_) directions.back()[k] = 1.0;
    }
    return directions;
  }

  std::vector<std::vector<double>> RandomDirections() {
    std::vector<std::vector<double>> directions(4 * moved_.size());
    for (std::vector<double>& direction : directions) {
      direction = Perturbed(std::vector<double>(classes_, 0.0), 1.0);
    }
    return directions;
  }

  OffsetJudge& judge_;
  const std::vector<std::size_t>& moved_;
  std::mt19937_64 random_;
  std::size_t classes_;
  std::int64_t sweeps_before_;
  bool many_rows_;
  std::size_t at_once_;
  std::int64_t most_sweeps_ = 0;
};

}  // namespace

OffsetPoint OffsetJudge::At(std::vector<double> offsets) {
  const double mean =
      std::accumulate(offsets.begin(), offsets.end(), 0.0) / static_cast<double>(offsets.size());
  for (double& offset : offsets) offset -= mean;
  std::vector<double> sums = sums_.Of(rows_.Predicted(offsets));
  tracker_.Reset(sums);
  ++evaluations_;
  return {.offsets = std::move(offsets), .sums = std::move(sums), .standing = tracker_.Evaluate()};
}

OffsetPoint OffsetJudge::AlongLine(const OffsetPoint& from, std::span<const double> direction,
                                   double reach) {
  const LineBest best = SweepLine(rows_, from.offsets, direction, reach, sums_, tracker_);
  evaluations_ += best.evaluations;
  ++sweeps_;
  std::vector<double> offsets = from.offsets;
  for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] += best.t * direction[k];
  return At(std::move(offsets));
}

std::vector<std::size_t> AllOf(std::size_t classes) {
  std::vector<std::size_t> all(classes);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

OffsetPoint SearchOffsets(const std::vector<std::vector<double>>& starts,
                          const std::vector<std::size_t>& moved, std::uint64_t seed, double effort,
                          OffsetJudge& judge) {
  return Search(moved, seed, effort, judge).Run(starts);
}

OffsetPoint Centre(OffsetPoint point, const std::vector<std::size_t>& moved, OffsetJudge& judge) {
  double reach = kInfinity;
  if (judge.rows().size() > kManyRows) reach = kShortReach;
  for (const std::size_t k : moved) {
    OffsetPoint middle = judge.AlongLine(point, Axis(k, point.offsets.size()), reach);
    if (!Better(point.standing, middle.standing)) point = std::move(middle);
  }
  return point;
}

std::vector<std::vector<double>> PriorStarts(const RowData& rows) {
  const std::size_t classes = rows.labels.levels.size();
  std::vector<double> weight(classes, 0.0);
  for (std::size_t i = 0; i < rows.num_rows(); ++i) {
    weight[static_cast<std::size_t>(rows.labels.codes[i])] += rows.rate_weight(i);
  }
  const double all = std::accumulate(weight.begin(), weight.end(), 0.0);
  std::vector<std::vector<double>> starts(3, std::vector<double>(classes, 0.0));
  for (std::size_t k = 0; k < classes; ++k) {
    const double rarity = -std::log(std::max(weight[k] / all, 1e-6));
    starts[1][k] = 0.5 * rarity;
    starts[2][k] = rarity;
  }
  return starts;
}

}  // namespace bregboost::detail
