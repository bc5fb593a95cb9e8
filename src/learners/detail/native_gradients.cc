#include "learners/detail/native_gradients.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "detail/parallel.h"

namespace bregboost::detail {
namespace {

struct Derivative {
  float gradient = 0.0F;
  float hessian = 0.0F;
};

constexpr float kXgboostEpsilon = 1e-16F;

// Labels enter by arithmetic, which changes no bit: branches on them would mostly be mispredicted.

Derivative LogLoss(double score, std::int32_t label, double weight) {
  const double sign = 2.0 * label - 1.0;
  const double response = -sign / (1.0 + std::exp(sign * score));
  const double size = std::abs(response);
  return {.gradient = static_cast<float>(response * weight),
          .hessian = static_cast<float>(size * (1.0 - size) * weight)};
}

Derivative LogLoss(float score, std::int32_t label, float weight) {
  const float p = 1.0F / (std::exp(std::min(-score, 88.7F)) + 1.0F + kXgboostEpsilon);
  return {.gradient = (p - static_cast<float>(label)) * weight,
          .hessian = std::max(p * (1.0F - p), kXgboostEpsilon) * weight};
}

Derivative HalfSquare(double score, float target, double weight) {
  // LightGBM rounds the residual before it is weighted.
  const auto residual = static_cast<float>(score - static_cast<double>(target));
  return {.gradient = residual * static_cast<float>(weight), .hessian = static_cast<float>(weight)};
}

Derivative HalfSquare(float score, float target, float weight) {
  return {.gradient = (score - target) * weight, .hessian = weight};
}

// Both turn the scores of a row into probabilities.
void Softmax(std::span<double> row) {
  const double top = *std::max_element(row.begin(), row.end());
  double total = 0.0;
  for (double& value : row) {
    value = std::exp(value - top);
    total += value;
  }
  for (double& value : row) value /= total;
}

void Softmax(std::span<float> row) {
  float top = std::numeric_limits<float>::min();  // as XGBoost has it: about 0, not the lowest
  for (const float value : row) top = std::fmax(value, top);
  double total = 0.0;
  for (float& value : row) {
    value = std::exp(value - top);
    total += static_cast<double>(value);
  }
  for (float& value : row) value /= static_cast<float>(total);
}

Derivative CrossEntropy(double p, double is_label, double factor, double weight) {
  return {.gradient = static_cast<float>((p - is_label) * weight),
          .hessian = static_cast<float>((factor * p * (1.0 - p)) * weight)};
}

Derivative CrossEntropy(float p, float is_label, double factor, float weight) {
  return {
      .gradient = (p - is_label) * weight,
      .hessian = std::max(static_cast<float>(factor) * p * (1.0F - p) * weight, kXgboostEpsilon)};
}

template <class T>
class Rows {
 public:
  Rows(const NativeRows& rows, const T* data, const ScoreView& view, std::span<float> gradient,
       std::span<float> hessian)
      : rows_(rows), data_(data), view_(view), gradient_(gradient), hessian_(hessian) {}

  void Derive() const {
    ForEachChunk(view_.num_rows, [&](std::size_t, std::size_t begin, std::size_t end) {
      if (view_.num_scores > 1) {
        SeveralClasses(begin, end);
      } else {
        OneScore(begin, end);
      }
    });
  }

 private:
  T weight(std::size_t i) const {
    return rows_.weights.empty() ? T{1} : static_cast<T>(rows_.weights[i]);
  }

  void Store(std::size_t index, const Derivative& derivative) const {
    gradient_[index] = derivative.gradient;
    hessian_[index] = derivative.hessian;
  }

  void OneScore(std::size_t begin, std::size_t end) const {
    if (rows_.labels.empty()) {
      for (std::size_t i = begin; i < end; ++i) {
        Store(i, HalfSquare(data_[i], rows_.targets[i], weight(i)));
      }
    } else {
      for (std::size_t i = begin; i < end; ++i) {
        Store(i, LogLoss(data_[i], rows_.labels[i], weight(i)));
      }
    }
  }

  void SeveralClasses(std::size_t begin, std::size_t end) const {
    const bool class_major = view_.layout == ScoreLayout::kClassMajor;
    const std::size_t class_stride = class_major ? view_.num_rows : 1;
    const std::size_t row_stride = class_major ? 1 : view_.num_scores;
    std::vector<T> row(view_.num_scores);
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t k = 0; k < row.size(); ++k) {
        row[k] = data_[i * row_stride + k * class_stride];
      }
      Softmax(std::span<T>(row));
      const auto label = static_cast<std::size_t>(rows_.labels[i]);
      for (std::size_t k = 0; k < row.size(); ++k) {
        Store(i * row_stride + k * class_stride,
              CrossEntropy(row[k], k == label ? T{1} : T{0}, rows_.softmax_hessian_factor,
                           weight(i)));
      }
    }
  }

  const NativeRows& rows_;
  const T* data_;
  const ScoreView& view_;
  std::span<float> gradient_;
  std::span<float> hessian_;
};

}  // namespace

void NativeDerivatives(const NativeRows& rows, const ScoreView& scores, std::span<float> gradient,
                       std::span<float> hessian) {
  std::visit([&](const auto* data) { Rows(rows, data, scores, gradient, hessian).Derive(); },
             scores.data);
}

}  // namespace bregboost::detail
