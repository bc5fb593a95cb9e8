#include "learners/detail/step_measure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "detail/parallel.h"

namespace bregboost::detail {
namespace {

struct Sums {
  double squares = 0.0;
  double curved = 0.0;
};

// Sums side by side, which the compiler may keep in one vector without changing their order.
constexpr std::size_t kLanes = 8;
struct Lanes {
  std::array<double, kLanes> squares{};
  std::array<double, kLanes> curved{};

  void Add(std::size_t lane, double before, double after, double hessian, double weight,
           double inverse_weight) {
    const double change = after - before;
    const double bent = change * hessian;
    squares[lane] += weight * change * change;
    curved[lane] += bent * bent * inverse_weight;
  }
  Sums Total() const {
    return {std::accumulate(squares.begin(), squares.end(), 0.0),
            std::accumulate(curved.begin(), curved.end(), 0.0)};
  }
};

template <class T>
Sums SumPlain(const T* before, const T* after, const float* hessian, std::size_t size) {
  Lanes lanes;
  std::size_t j = 0;
  for (; j + kLanes <= size; j += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      lanes.Add(lane, static_cast<double>(before[j + lane]), static_cast<double>(after[j + lane]),
                static_cast<double>(hessian[j + lane]), 1.0, 1.0);
    }
  }
  for (; j < size; ++j) {
    lanes.Add(j % kLanes, static_cast<double>(before[j]), static_cast<double>(after[j]),
              static_cast<double>(hessian[j]), 1.0, 1.0);
  }
  return lanes.Total();
}

// One score of rows that are `stride` apart.
template <class T>
Sums SumWeighted(const T* before, const T* after, const float* hessian, const double* weights,
                 std::size_t rows, std::size_t stride) {
  Lanes lanes;
  const auto add = [&](std::size_t lane, std::size_t i) {
    const double weight = weights[i];
    lanes.Add(lane, static_cast<double>(before[i * stride]), static_cast<double>(after[i * stride]),
              static_cast<double>(hessian[i * stride]), weight, weight > 0.0 ? 1.0 / weight : 0.0);
  };
  std::size_t i = 0;
  for (; i + kLanes <= rows; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) add(lane, i + lane);
  }
  for (; i < rows; ++i) add(i % kLanes, i);
  return lanes.Total();
}

template <class T>
StepMeasure Measure(const ScoreMetric& metric, const T* before, const T* after,
                    const float* hessian, const ScoreView& view) {
  const bool class_major = view.layout == ScoreLayout::kClassMajor;
  const std::size_t row_stride = class_major ? 1 : view.num_scores;
  const std::size_t class_stride = class_major ? view.num_rows : 1;
  const bool weighted = !metric.weights().empty();
  // Without weights it does not matter which row a score belongs to.
  const std::size_t length = weighted ? view.num_rows : view.size();
  std::vector<Sums> partial(NumChunks(length));
  ForEachChunk(length, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    if (!weighted) {
      partial[chunk] = SumPlain(before + begin, after + begin, hessian + begin, end - begin);
      return;
    }
    for (std::size_t k = 0; k < view.num_scores; ++k) {
      const std::size_t first = begin * row_stride + k * class_stride;
      const Sums sums = SumWeighted(before + first, after + first, hessian + first,
                                    metric.weights().data() + begin, end - begin, row_stride);
      partial[chunk].squares += sums.squares;
      partial[chunk].curved += sums.curved;
    }
  });
  std::array total = {0.0, 0.0};  // squares, curved
  for (const Sums& part : partial) {
    total[0] += part.squares;
    total[1] += part.curved;
  }
  metric.SumOverWorkers(total);
  return {.distance = total[0] / (2.0 * metric.total()),
          .curved_length = std::sqrt(metric.total() * total[1])};
}

}  // namespace

ScoreMetric::ScoreMetric(const RowData& rows) : rows_(&rows) {
  const std::size_t n = rows.num_rows();
  if (rows.weights.empty() && rows.rate_weights.empty()) {
    total_ = rows.SumOverWorkers(static_cast<double>(n));
    return;
  }
  if (rows.rate_weights.empty()) {
    weights_ = rows.weights;
  } else {
    for (std::size_t i = 0; i < n; ++i) larger_.push_back(rows.metric_weight(i));
    weights_ = larger_;
  }
  total_ = rows.SumOverWorkers(std::accumulate(weights_.begin(), weights_.end(), 0.0));
}

StepMeasure MeasureStep(const ScoreMetric& metric, const ScoreView& before, const ScoreView& after,
                        std::span<const float> hessian) {
  return std::visit(
      [&](const auto* now) {
        return Measure(metric, std::get<decltype(now)>(before.data), now, hessian.data(), after);
      },
      after.data);
}

double LeafResidual(const ScoreMetric& metric, const ScoreView& before, const ScoreView& after,
                    std::span<const double> gradient) {
  const std::size_t n = after.num_rows;
  const auto mass_of = [&](std::size_t row) {
    return metric.weights().empty() ? 1.0 : metric.weights()[row];
  };
  const auto whole = [&](std::size_t k) {
    double total = 0.0;
    for (std::size_t row = 0; row < n; ++row) {
      const double slope = gradient[k * n + row];
      if (mass_of(row) > 0.0) total += slope * slope / mass_of(row);
    }
    return total;
  };
  double total = 0.0;
  // Leaves cannot be told apart over several workers: the residual by rows is no less.
  if (before.num_rows == 0 || metric.is_spread()) {
    for (std::size_t k = 0; k < after.num_scores; ++k) total += whole(k);
    metric.SumOverWorkers({&total, 1});
    return std::sqrt(metric.total() * total);
  }
  std::vector<double> change(after.size(), 0.0);
  double largest = 0.0;
  ForEachScore(after, [&](std::size_t row, std::size_t k, double score) {
    change[k * n + row] = score;
    largest = std::max(largest, std::abs(score));
  });
  ForEachScore(before,
               [&](std::size_t row, std::size_t k, double score) { change[k * n + row] -= score; });
  // Sums of scores are rounded, so that rows of one leaf change by almost the same amount.
  const bool floats = std::holds_alternative<const float*>(after.data);
  const double epsilon = floats ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                : std::numeric_limits<double>::epsilon();
  const double same_leaf = 4.0 * epsilon * (1.0 + largest);
  std::vector<std::size_t> order(n);
  for (std::size_t k = 0; k < after.num_scores; ++k) {
    const double* column = change.data() + k * n;
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return column[a] < column[b]; });
    // Changes that drown in rounding tell nothing.
    if (column[order.back()] - column[order.front()] <= same_leaf) {
      total += whole(k);
      continue;
    }
    double sum = 0.0;
    double mass = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t row = order[j];
      sum += gradient[k * n + row];
      mass += mass_of(row);
      const bool leaf_ends = j + 1 == n || column[order[j + 1]] - column[row] > same_leaf;
      if (!leaf_ends) continue;
      if (mass > 0.0) total += sum * sum / mass;
      sum = mass = 0.0;
    }
  }
  return std::sqrt(metric.total() * total);
}

}  // namespace bregboost::detail
