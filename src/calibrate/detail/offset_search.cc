#include "calibrate/detail/offset_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "calibrate/detail/line_sweep.h"

namespace bregboost::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A sweep takes time in proportion to rows * classes; this much of both takes a second or two.
// Short sweeps, those of many rows, have less to sort.
constexpr double kMostWork = 4e7;
constexpr double kMostWorkOfShortSweeps = 1e8;
constexpr std::size_t kManyRows = 100'000;
constexpr double kShortReach = 0.5;

class Search {
 public:
  Search(std::uint64_t seed, double effort, OffsetJudge& judge)
      : judge_(judge),
        random_(seed),
        classes_(judge.rows().num_classes),
        sweeps_before_(judge.sweeps()),
        many_rows_(judge.rows().size() > kManyRows) {
    const auto work = static_cast<double>(judge.rows().size() * classes_);
    const double most_work = many_rows_ ? kMostWorkOfShortSweeps : kMostWork;
    const auto least = static_cast<std::int64_t>(4 * classes_);
    const std::int64_t most = many_rows_ ? 4 * least : std::max(least, kMostSweeps);
    most_sweeps_ = std::clamp(static_cast<std::int64_t>(most_work / (work + 1.0)), least, most);
    most_sweeps_ =
        std::max(least, static_cast<std::int64_t>(effort * static_cast<double>(most_sweeps_)));
  }

  OffsetPoint Run(const std::vector<std::vector<double>>& starts) {
    OffsetPoint best;
    for (const std::vector<double>& start : starts) {
      OffsetPoint found = judge_.At(start);
      if (!many_rows_) found = AlongAxes(std::move(found));
      if (best.offsets.empty() || Better(found.standing, best.standing)) best = std::move(found);
    }
    if (many_rows_) {
      best = AlongAxes(std::move(best));
      reach_ = kShortReach;
    } else {
      best = FromPerturbed(std::move(best));
    }
    return AlongAll(std::move(best));
  }

 private:
  static constexpr std::int64_t kMostSweeps = 4000;

  // The rest is for the directions that are no axes.
  static constexpr double kShareOfRestarts = 0.7;

  bool HasBudget(double share = 1.0) const {
    return static_cast<double>(judge_.sweeps() - sweeps_before_) <
           share * static_cast<double>(most_sweeps_);
  }

  double Uniform() { return 0x1p-52 * static_cast<double>(random_() >> 11U) - 1.0; }  // [-1, 1)

  std::vector<double> Perturbed(std::vector<double> offsets, double spread) {
    for (double& offset : offsets) offset += spread * Uniform();
    return offsets;
  }

  // True if the line had something better.
  bool Try(std::span<const double> direction, OffsetPoint& point) {
    if (!HasBudget()) return false;
    OffsetPoint found = judge_.AlongLine(point, direction, reach_);
    if (!Better(found.standing, point.standing)) return false;
    point = std::move(found);
    return true;
  }

  OffsetPoint AlongAxes(OffsetPoint point) {
    const double reach = reach_;
    std::size_t since_improvement = 0;
    for (std::size_t step = 0; since_improvement < classes_ && HasBudget(); ++step) {
      if (many_rows_ && step == classes_) reach_ = kShortReach;
      std::vector<double> axis(classes_, 0.0);
      axis[step % classes_] = 1.0;
      since_improvement = Try(axis, point) ? 0 : since_improvement + 1;
    }
    reach_ = reach;
    return point;
  }

  // Large and small steps in turn: the first leave valleys, the last repair what the axes miss.
  OffsetPoint FromPerturbed(OffsetPoint best) {
    constexpr std::array kSpreads = {2.0, 0.5, 0.1};
    const std::size_t most_in_vain = 6 * classes_;
    std::size_t in_vain = 0;
    for (std::size_t r = 0; in_vain < most_in_vain && HasBudget(kShareOfRestarts); ++r) {
      const double spread = kSpreads[r % kSpreads.size()];
      OffsetPoint found = AlongAxes(judge_.At(Perturbed(best.offsets, spread)));
      ++in_vain;
      if (!Better(found.standing, best.standing)) continue;
      best = std::move(found);
      in_vain = 0;
    }
    return best;
  }

  OffsetPoint AlongAll(OffsetPoint point) {
    bool improved = true;
    while (improved && HasBudget()) {
      improved = AlongPairs(point);
      improved = AlongRandom(point) || improved;
      if (improved) point = AlongAxes(point);
    }
    return point;
  }

  bool AlongPairs(OffsetPoint& point) {
    bool improved = false;
    for (std::size_t a = 0; a < classes_; ++a) {
      for (std::size_t b = a + 1; b < classes_; ++b) {
        for (const double sign : {1.0, -1.0}) {
          if (classes_ == 3 && sign > 0.0) continue;  // two together: the third alone
          std::vector<double> direction(classes_, 0.0);
          direction[a] = 1.0;
          direction[b] = sign;
          improved = Try(direction, point) || improved;
        }
      }
    }
    return improved;
  }

  bool AlongRandom(OffsetPoint& point) {
    bool improved = false;
    for (std::size_t j = 0; j < 4 * classes_; ++j) {
      const std::vector<double> direction = Perturbed(std::vector<double>(classes_, 0.0), 1.0);
      improved = Try(direction, point) || improved;
    }
    return improved;
  }

  OffsetJudge& judge_;
  std::mt19937_64 random_;
  std::size_t classes_;
  std::int64_t sweeps_before_;
  bool many_rows_;
  double reach_ = kInfinity;
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

OffsetPoint SearchOffsets(const std::vector<std::vector<double>>& starts, std::uint64_t seed,
                          double effort, OffsetJudge& judge) {
  return Search(seed, effort, judge).Run(starts);
}

OffsetPoint Centre(OffsetPoint point, OffsetJudge& judge) {
  double reach = kInfinity;
  if (judge.rows().size() > kManyRows) reach = kShortReach;
  for (std::size_t k = 0; k < point.offsets.size(); ++k) {
    std::vector<double> axis(point.offsets.size(), 0.0);
    axis[k] = 1.0;
    OffsetPoint middle = judge.AlongLine(point, axis, reach);
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
