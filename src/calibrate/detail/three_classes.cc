#include "calibrate/detail/three_classes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace bregboost::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The value of the i-th of `rows`, or `beyond` where there is none.
double ValueOr(double beyond, const std::vector<double>& values,
               const std::vector<std::uint32_t>& rows, std::size_t i) {
  return i < rows.size() ? values[rows[i]] : beyond;
}

// With offsets t of class k, s of class p and 0 of class q, a row is predicted k where
// t > max(score_p - score_k + s, score_q - score_k); below that p where s > score_q - score_p.
// A walk goes along t with s just above or just below one row's score_q - score_p.
class Walks {
 public:
  Walks(const OffsetRows& rows, std::size_t k)
      : rows_(rows), k_(k), p_((k + 1) % 3), q_((k + 2) % 3) {
    const std::size_t n = rows.size();
    for (std::size_t i = 0; i < n; ++i) {
      const double* z = rows.row(i);
      beside_.push_back(z[q_] - z[p_]);
      over_p_.push_back(z[p_] - z[k_]);
      over_q_.push_back(z[q_] - z[k_]);
    }
    by_p_ = Ascending(over_p_);
    by_q_ = Ascending(over_q_);
    lines_ = beside_;
    std::sort(lines_.begin(), lines_.end());
    lines_.erase(std::unique(lines_.begin(), lines_.end()), lines_.end());
  }

  // A place on a walk: behind so many changes from p to k, and from q to k.
  struct Place {
    std::size_t line = 0;
    bool above = true;
    std::size_t from_p = 0, from_q = 0;
  };

  std::size_t num_lines() const { return lines_.size(); }

  // visit(place) at every decision of one walk.
  template <class Visit>
  void Walk(std::size_t line, bool above, const DecisionSums& sums, MeritTracker& tracker,
            const Visit& visit) {
    Choose(line, above);
    tracker.Reset(sums.Of(Predicted()));
    Place place{.line = line, .above = above, .from_p = 0, .from_q = 0};
    visit(place);
    while (place.from_p < p_rows_.size() || place.from_q < q_rows_.size()) {
      const double next_p = NextP(place), next_q = NextQ(place);
      // Changes from p are a hair further to the right above the line, to the left below it.
      const bool p_is_next = above ? next_p < next_q : next_p <= next_q;
      if (p_is_next) {
        while (place.from_p < p_rows_.size() && NextP(place) == next_p) {
          Move(p_rows_[place.from_p++], p_, tracker);
        }
      } else {
        while (place.from_q < q_rows_.size() && NextQ(place) == next_q) {
          Move(q_rows_[place.from_q++], q_, tracker);
        }
      }
      visit(place);
    }
  }

  // Offsets inside the region that the place touches.
  std::vector<double> Offsets(const Place& place) {
    Choose(place.line, place.above);
    const double line = lines_[place.line];
    const double before_p = ValueOr(-kInfinity, over_p_, p_rows_, place.from_p - 1);
    const double before_q = ValueOr(-kInfinity, over_q_, q_rows_, place.from_q - 1);
    const double after_p = ValueOr(kInfinity, over_p_, p_rows_, place.from_p);
    const double after_q = ValueOr(kInfinity, over_q_, q_rows_, place.from_q);
    double room = 2.0;  // to move away from the line before the region ends
    if (place.above) {
      if (place.line + 1 < lines_.size()) room = std::min(room, lines_[place.line + 1] - line);
      room = std::min(room, after_q - (before_p + line));
    } else {
      if (place.line > 0) room = std::min(room, line - lines_[place.line - 1]);
      room = std::min(room, (after_p + line) - before_q);
    }
    const double s = line + (place.above ? 0.5 : -0.5) * room;
    const double low = std::max(before_p + s, before_q), high = std::min(after_p + s, after_q);
    std::vector<double> offsets(3, 0.0);
    offsets[p_] = s;
    offsets[k_] = std::isinf(low) ? high - 1.0 : std::isinf(high) ? low + 1.0 : 0.5 * (low + high);
    return offsets;
  }

 private:
  static std::vector<std::uint32_t> Ascending(const std::vector<double>& values) {
    std::vector<std::uint32_t> order(values.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return values[a] != values[b] ? values[a] < values[b] : a < b;
    });
    return order;
  }

  bool PrefersP(std::uint32_t row, std::size_t line, bool above) const {
    return above ? beside_[row] <= lines_[line] : beside_[row] < lines_[line];
  }

  // Which rows change from p and which from q on this walk, in order.
  void Choose(std::size_t line, bool above) {
    line_ = lines_[line];
    p_rows_.clear();
    q_rows_.clear();
    for (const std::uint32_t row : by_p_) {
      if (PrefersP(row, line, above)) p_rows_.push_back(row);
    }
    for (const std::uint32_t row : by_q_) {
      if (!PrefersP(row, line, above)) q_rows_.push_back(row);
    }
  }

  std::vector<double> Predicted() const {
    std::vector<double> predicted(rows_.num_cells * 3, 0.0);
    for (const std::uint32_t row : p_rows_)
      predicted[rows_.cells[row] * 3 + p_] += rows_.weights[row];
    for (const std::uint32_t row : q_rows_)
      predicted[rows_.cells[row] * 3 + q_] += rows_.weights[row];
    return predicted;
  }

  double NextP(const Place& place) const {
    return ValueOr(kInfinity, over_p_, p_rows_, place.from_p) + line_;
  }
  double NextQ(const Place& place) const {
    return ValueOr(kInfinity, over_q_, q_rows_, place.from_q);
  }

  void Move(std::uint32_t row, std::size_t from, MeritTracker& tracker) const {
    tracker.Move(rows_.cells[row], from, k_, rows_.weights[row]);
  }

  const OffsetRows& rows_;
  std::size_t k_, p_, q_;
  std::vector<double> beside_, over_p_, over_q_;  // by row
  std::vector<std::uint32_t> by_p_, by_q_;        // rows by over_p_ and by over_q_
  std::vector<double> lines_;                     // distinct values of beside_
  double line_ = 0.0;
  std::vector<std::uint32_t> p_rows_, q_rows_;
};

}  // namespace

bool CanEnumerate(const OffsetRows& rows, const MeritTracker& tracker) {
  constexpr double kMostWork = 2e8;
  const auto n = static_cast<double>(rows.size());
  return rows.num_classes == 3 && 6.0 * n * n * (4.0 + tracker.mean_touches()) <= kMostWork;
}

std::optional<Enumerated> EnumerateThreeClasses(const OffsetRows& rows, const DecisionSums& sums,
                                                MeritTracker& tracker, OffsetJudge& judge) {
  Enumerated result;
  Standing best;
  std::optional<Walks::Place> place;
  std::size_t axis = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    Walks walks(rows, k);
    for (std::size_t line = 0; line < walks.num_lines(); ++line) {
      for (const bool above : {true, false}) {
        walks.Walk(line, above, sums, tracker, [&](const Walks::Place& here) {
          const Standing standing = tracker.Evaluate();
          ++result.evaluations;
          if (place && !Better(standing, best)) return;
          best = standing;
          place = here;
          axis = k;
        });
      }
    }
  }
  if (!place) return std::nullopt;
  result.best = judge.At(Walks(rows, axis).Offsets(*place));
  if (Better(best, result.best.standing)) return std::nullopt;
  return result;
}

}  // namespace bregboost::detail
