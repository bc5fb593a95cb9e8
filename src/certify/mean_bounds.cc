#include "bregboost/certify/mean_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "certify/detail/check_delta.h"

namespace bregboost {
namespace {

// A row in units of the ranges, and the share of the capital that is staked on it.
struct Bet {
  double value = 0.0;   // 0 to 1
  double weight = 1.0;  // 0 to 1
  double stake = 0.0;
};

// A full stake would lose everything on a single row of value 1.
constexpr double kMostOfCapital = 0.75;

void CheckSample(const BoundedSample& sample) {
  if (sample.values.empty()) throw std::invalid_argument("values: none; allowed: at least 1");
  if (!std::isfinite(sample.low) || !std::isfinite(sample.high) || !(sample.low < sample.high)) {
    throw std::invalid_argument(
        fmt::format("range: {} to {}; allowed: finite ends that are known beforehand, the first "
                    "below the second",
                    sample.low, sample.high));
  }
  if (!(sample.max_weight > 0.0) || !std::isfinite(sample.max_weight)) {
    throw std::invalid_argument(
        fmt::format("max_weight: {}; allowed: a finite number above 0", sample.max_weight));
  }
  if (!sample.weights.empty() && sample.weights.size() != sample.values.size()) {
    throw std::invalid_argument(
        fmt::format("weights: {} numbers; allowed: one for each of the {} "
                    "values",
                    sample.weights.size(), sample.values.size()));
  }
  for (std::size_t i = 0; i < sample.values.size(); ++i) {
    if (!(sample.values[i] >= sample.low && sample.values[i] <= sample.high)) {
      throw std::invalid_argument(fmt::format("values: {} in row {}; allowed: {} to {}",
                                              sample.values[i], i, sample.low, sample.high));
    }
    if (!sample.weights.empty() &&
        !(sample.weights[i] >= 0.0 && sample.weights[i] <= sample.max_weight)) {
      throw std::invalid_argument(
          fmt::format("weights: {} in row {}; allowed: 0 to {} (max_weight)", sample.weights[i], i,
                      sample.max_weight));
    }
  }
}

// SplitMix64 (Steele, Lea & Flood 2014): the same order on every platform, which the standard
// library's shuffle does not promise.
std::uint64_t NextRandom(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

std::vector<Bet> ShuffledRows(const BoundedSample& sample, bool mirrored, std::uint64_t seed) {
  std::vector<Bet> bets(sample.values.size());
  const double range = sample.high - sample.low;
  for (std::size_t i = 0; i < bets.size(); ++i) {
    const double value = std::clamp((sample.values[i] - sample.low) / range, 0.0, 1.0);
    bets[i].value = mirrored ? 1.0 - value : value;
    bets[i].weight = sample.weights.empty() ? 1.0 / sample.max_weight
                                            : std::min(sample.weights[i] / sample.max_weight, 1.0);
  }
  for (std::size_t i = bets.size(); i > 1; --i) {
    std::swap(bets[i - 1], bets[NextRandom(seed) % i]);
  }
  return bets;
}

// l_t = sqrt(2 log(1 / delta) / (n v_{t-1})), the stake that is best for a normal sum of n terms of
// variance v; v_{t-1} is estimated from the rows before t, and a first guess of 1/4.
void PlaceBets(double delta, std::vector<Bet>& bets) {
  const auto rows = static_cast<double>(bets.size());
  double squares = 0.25, seen = 1.0;
  double weighted_sum = 0.5, weight = 1.0;
  for (Bet& bet : bets) {
    bet.stake = std::sqrt(2.0 * std::log(1.0 / delta) * seen / (rows * squares));
    weighted_sum += bet.weight * bet.value;
    weight += bet.weight;
    const double residual = bet.weight * (bet.value - weighted_sum / weight);
    squares += residual * residual;
    seen += 1.0;
  }
}

// Whether the capital reaches 1 / delta against the hypothesis that the mean is `mean` or more.
bool IsRefuted(const std::vector<Bet>& bets, double mean, double delta) {
  const double most = kMostOfCapital / (1.0 - mean);  // keeps every factor above 0
  // A capital this small is given up for lost, before it underflows: that errs towards "no".
  constexpr double kRuin = 1e-200;
  double capital = 1.0;
  for (const Bet& bet : bets) {
    capital *= 1.0 + std::min(bet.stake, most) * bet.weight * (mean - bet.value);
    if (capital * delta >= 1.0) return true;
    if (capital < kRuin) return false;
  }
  return false;
}

// In units of the range. Bisection keeps a refuted upper end, so rounding errs upwards.
double UpperBoundOfShare(std::vector<Bet> bets, double delta) {
  PlaceBets(delta, bets);
  double low = 0.0, high = 1.0;
  constexpr int kHalvings = 40;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (IsRefuted(bets, middle, delta) ? high : low) = middle;
  }
  return high;
}

}  // namespace

double MeanUpperBound(const BoundedSample& sample, const MeanBoundOptions& options) {
  CheckSample(sample);
  detail::RequireDelta(options.delta);
  const double share =
      UpperBoundOfShare(ShuffledRows(sample, /*mirrored=*/false, options.seed), options.delta);
  return std::min(sample.high, sample.low + share * (sample.high - sample.low));
}

double MeanLowerBound(const BoundedSample& sample, const MeanBoundOptions& options) {
  CheckSample(sample);
  detail::RequireDelta(options.delta);
  const double share =
      UpperBoundOfShare(ShuffledRows(sample, /*mirrored=*/true, options.seed), options.delta);
  return std::max(sample.low, sample.high - share * (sample.high - sample.low));
}

}  // namespace bregboost
