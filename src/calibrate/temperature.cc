#include "bregboost/calibrate/temperature.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "bregboost/problem/objective.h"
#include "calibrate/detail/score_checks.h"
#include "detail/parallel.h"
#include "problem/detail/vector_math.h"

namespace bregboost {
namespace {

constexpr double kLowestLog = -3.0;
constexpr double kHighestLog = 5.0;
constexpr std::size_t kBlock = 512;

// First and second derivative of the summed cross-entropy in the inverse temperature b:
//   sum_i w_i (E_p[F_i] - F_iy)   and   sum_i w_i Var_p[F_i],   p = softmax(b F_i).
struct Derivatives {
  double first = 0.0;
  double second = 0.0;
};

void AddBinary(std::span<const double> scores, const RowData& rows, double inverse,
               std::size_t begin, std::size_t end, Derivatives& total) {
  alignas(64) std::array<double, kBlock> scaled{};
  alignas(64) std::array<double, kBlock> p{};
  for (std::size_t at = begin; at < end; at += kBlock) {
    const std::size_t count = std::min(kBlock, end - at);
    for (std::size_t i = 0; i < count; ++i) scaled[i] = inverse * scores[at + i];
    detail::SigmoidArray(scaled.data(), count, p.data());
    for (std::size_t i = 0; i < count; ++i) {
      const double weighted = rows.weight(at + i) * scores[at + i];
      total.first += weighted * (p[i] - static_cast<double>(rows.labels.codes[at + i]));
      total.second += weighted * scores[at + i] * p[i] * (1.0 - p[i]);
    }
  }
}

void AddClasses(std::span<const double> scores, const RowData& rows, double inverse,
                std::size_t begin, std::size_t end, Derivatives& total) {
  const std::size_t n = rows.num_rows();
  const std::size_t classes = rows.num_scores();
  std::vector<double> below_top(classes * kBlock), p(classes * kBlock);  // [k * kBlock + i]
  for (std::size_t at = begin; at < end; at += kBlock) {
    const std::size_t count = std::min(kBlock, end - at);
    for (std::size_t i = 0; i < count; ++i) {
      double top = scores[at + i];
      for (std::size_t k = 1; k < classes; ++k) top = std::max(top, scores[k * n + at + i]);
      for (std::size_t k = 0; k < classes; ++k) {
        below_top[k * kBlock + i] = scores[k * n + at + i] - top;
        p[k * kBlock + i] = inverse * below_top[k * kBlock + i];
      }
    }
    for (std::size_t k = 0; k < classes; ++k) {
      detail::ExpArray(p.data() + k * kBlock, count, p.data() + k * kBlock);
    }
    for (std::size_t i = 0; i < count; ++i) {
      double sum = 0.0, mean = 0.0, square = 0.0;
      for (std::size_t k = 0; k < classes; ++k) {
        const double score = below_top[k * kBlock + i];
        const double mass = p[k * kBlock + i];
        sum += mass;
        mean += mass * score;
        square += mass * score * score;
      }
      mean /= sum;
      const auto label = static_cast<std::size_t>(rows.labels.codes[at + i]);
      total.first += rows.weight(at + i) * (mean - below_top[label * kBlock + i]);
      total.second += rows.weight(at + i) * (square / sum - mean * mean);
    }
  }
}

Derivatives At(std::span<const double> scores, const RowData& rows, double inverse) {
  std::vector<Derivatives> partial(detail::NumChunks(rows.num_rows()));
  const bool binary = rows.task() == Task::kBinary;
  detail::ForEachChunk(rows.num_rows(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    (binary ? AddBinary : AddClasses)(scores, rows, inverse, begin, end, partial[chunk]);
  });
  std::array<double, 2> total{};
  for (const Derivatives& part : partial) {
    total[0] += part.first;
    total[1] += part.second;
  }
  rows.SumOverWorkers(total);
  return {.first = total[0], .second = total[1]};
}

// Two labels and two different score vectors, among rows of weight.
bool HasSomethingToLearn(std::span<const double> scores, const RowData& rows) {
  const std::size_t n = rows.num_rows();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // Of the label and of every score: the largest, and minus the smallest.
  std::vector<double> ends(2 * (1 + rows.num_scores()), -kInfinity);
  const auto widen = [&ends](std::size_t at, double value) {
    ends[2 * at] = std::max(ends[2 * at], value);
    ends[2 * at + 1] = std::max(ends[2 * at + 1], -value);
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (rows.weight(i) <= 0.0) continue;
    widen(0, static_cast<double>(rows.labels.codes[i]));
    for (std::size_t k = 0; k < rows.num_scores(); ++k) widen(1 + k, scores[k * n + i]);
  }
  if (rows.workers) rows.workers->Max(ends);
  const auto differs = [&ends](std::size_t at) { return ends[2 * at] + ends[2 * at + 1] > 0.0; };
  bool scores_differ = false;
  for (std::size_t k = 0; k < rows.num_scores(); ++k) scores_differ |= differs(1 + k);
  return differs(0) && scores_differ;
}

}  // namespace

// Newton's method on the convex loss in b = 1 / T, kept inside a bracket of the minimum.
double FitTemperature(std::span<const double> scores, const RowData& rows) {
  detail::CheckCalibrationScores(rows, scores);
  if (!HasSomethingToLearn(scores, rows)) return 1.0;
  double low = std::exp(-kHighestLog), high = std::exp(-kLowestLog);
  if (At(scores, rows, low).first >= 0.0) return 1.0 / low;
  if (At(scores, rows, high).first <= 0.0) return 1.0 / high;
  double inverse = 1.0;
  constexpr int kMostSteps = 100;
  for (int step = 0; step < kMostSteps; ++step) {
    const Derivatives at = At(scores, rows, inverse);
    (at.first < 0.0 ? low : high) = inverse;
    double next = inverse - at.first / at.second;
    if (!(next > low && next < high)) next = std::sqrt(low * high);
    const bool done = std::abs(next - inverse) <= 1e-10 * inverse;
    inverse = next;
    if (done) break;
  }
  return 1.0 / inverse;
}

double RefinementLoss(std::span<const double> scores, const RowData& rows) {
  const double inverse = 1.0 / FitTemperature(scores, rows);
  std::vector<double> scaled(scores.begin(), scores.end());
  for (double& score : scaled) score *= inverse;
  return Objective(rows, {}).Evaluate(scaled);
}

}  // namespace bregboost
