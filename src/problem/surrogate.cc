#include "bregboost/problem/surrogate.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "detail/option_checks.h"

namespace bregboost {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// log softmax: gradient p - e_t, hessian diag(p) - p p'.
DerivativeBounds CrossEntropyBounds(std::size_t num_classes) {
  if (num_classes <= 2) return {.slope = 1.0, .curvature = 0.25};
  return {.slope = std::numbers::sqrt2, .curvature = 0.5};
}

DerivativeBounds Scaled(DerivativeBounds bounds, double factor) {
  return {.slope = bounds.slope * factor, .curvature = bounds.curvature * factor};
}

}  // namespace

std::string_view Name(SurrogateKind kind) {
  switch (kind) {
    case SurrogateKind::kCrossEntropy:
      return "cross_entropy";
    case SurrogateKind::kLogisticBase2:
      return "logistic_base2";
    case SurrogateKind::kHingeSquared:
      return "hinge_squared";
    case SurrogateKind::kHuberisedHinge:
      return "huberised_hinge";
    case SurrogateKind::kSigmoid:
      return "sigmoid";
  }
  return "unknown";
}

std::string_view Name(SurrogateBoundRule rule) {
  switch (rule) {
    case SurrogateBoundRule::kSame:
      return "same";
    case SurrogateBoundRule::kUniformThenCurrent:
      return "uniform_then_current";
    case SurrogateBoundRule::kNegativeLog:
      return "negative_log";
  }
  return "unknown";
}

std::string_view Name(LossKind kind) {
  switch (kind) {
    case LossKind::kCrossEntropy:
      return "cross_entropy";
    case LossKind::kSquared:
      return "squared";
    case LossKind::kHuber:
      return "huber";
  }
  return "unknown";
}

void Validate(const SurrogateOptions& options) {
  detail::RequirePositive("temperature", options.temperature);
  if (!(options.clip > 0.0)) {  // infinite, the default, clips nothing
    throw std::invalid_argument(fmt::format("clip: {}; allowed: any number above 0", options.clip));
  }
}

void Validate(const LossOptions& options) {
  detail::RequirePositive("huber_delta", options.huber_delta);
}

bool IsConvex(const SurrogateOptions& options) {
  return options.kind != SurrogateKind::kSigmoid && std::isinf(options.clip);
}

DerivativeBounds MissBounds(const SurrogateOptions& options, std::size_t num_classes) {
  const double rivals = static_cast<double>(num_classes) - 1.0;  // the classes j != t
  switch (options.kind) {
    case SurrogateKind::kCrossEntropy:
      return CrossEntropyBounds(num_classes);
    case SurrogateKind::kLogisticBase2:
      return Scaled(CrossEntropyBounds(num_classes), std::numbers::log2e);
    case SurrogateKind::kHingeSquared:
    case SurrogateKind::kHuberisedHinge: {
      // The margins' hessian is 2 (e_t - e_j)(e_t - e_j)' summed: the Laplacian of a star.
      const double curvature = num_classes <= 2 ? 2.0 : 2.0 * (rivals + 1.0);
      if (options.kind == SurrogateKind::kHingeSquared) {
        return {.slope = kInfinity, .curvature = curvature};
      }
      const double slope = num_classes <= 2 ? 4.0 : 4.0 * std::sqrt(rivals * rivals + rivals);
      return {.slope = slope, .curvature = curvature};
    }
    case SurrogateKind::kSigmoid: {
      if (num_classes > 2) return SelectionBounds(options);
      const double t = options.temperature;
      return {.slope = 0.25 / t, .curvature = 1.0 / (6.0 * std::numbers::sqrt3 * t * t)};
    }
  }
  return {.slope = kInfinity, .curvature = kInfinity};
}

// q_k = softmax_k(F / T): gradient q_k (e_k - q) / T; hessian between q_k (e_k - q)(e_k - q)' and
// -q_k (diag(q) - q q'), both over T^2 and of norm at most 1/2.
DerivativeBounds SelectionBounds(const SurrogateOptions& options) {
  const double t = options.temperature;
  return {.slope = 0.25 * std::numbers::sqrt2 / t, .curvature = 0.5 / (t * t)};
}

DerivativeBounds LossBounds(const LossOptions& options, std::size_t num_classes) {
  switch (options.kind) {
    case LossKind::kCrossEntropy:
      return CrossEntropyBounds(num_classes);
    case LossKind::kSquared:
      return {.slope = kInfinity, .curvature = 2.0};
    case LossKind::kHuber:
      return {.slope = options.huber_delta, .curvature = 1.0};
  }
  return {.slope = kInfinity, .curvature = kInfinity};
}

}  // namespace bregboost
