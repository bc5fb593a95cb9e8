// Smooth stand-ins for 0-1 events, and losses. See docs/math.md for every formula and derivative.
#pragma once

#include <cstddef>
#include <limits>
#include <string_view>

namespace bregboost {

// A surrogate of "the prediction misses class t" as a function of the scores. With the binary
// margin m (the score towards t), or the K-class margins m_j = F_t - F_j:
enum class SurrogateKind {
  kCrossEntropy,    // -log p_t                          convex
  kLogisticBase2,   // -log2 p_t                         convex, at least the 0-1 event
  kHingeSquared,    // sum_j max(0, 1 - m_j)^2           convex, at least the 0-1 event
  kHuberisedHinge,  // as above, linear for m_j < -1     convex, at least the 0-1 event
  kSigmoid,         // 1 - p_t at a temperature          tight, not convex
};
std::string_view Name(SurrogateKind kind);

// How the bound e of a single rate is translated into a bound on its surrogate.
enum class SurrogateBoundRule {
  kSame,                // e
  kUniformThenCurrent,  // e log K; after half of the iterations e times the current mean loss
  kNegativeLog,         // -log(1 - e)
};
std::string_view Name(SurrogateBoundRule rule);

// The default is the paper's. It is not an upper bound on the 0-1 event (at the boundary it is log
// 2), so a limit that holds for it may not hold for the rate; kLogisticBase2 is the smallest
// multiple of it that is one.
struct SurrogateOptions {
  SurrogateKind kind = SurrogateKind::kCrossEntropy;
  double temperature = 1.0;  // kSigmoid and K-class selection rates; > 0
  // A row's surrogate loss in a constraint counts at most this much (the paper's outlier rule); >
  // 0. For ABPP: CBPR refuses it, since a clipped loss has no convex model.
  double clip = std::numeric_limits<double>::infinity();
  SurrogateBoundRule bound_rule = SurrogateBoundRule::kSame;

  bool operator==(const SurrogateOptions&) const = default;
};
void Validate(const SurrogateOptions& options);

bool IsConvex(const SurrogateOptions& options);

// Bounds on the first and second derivative of one row's event with respect to its scores (largest
// Euclidean and operator norm); infinite where there is none.
struct DerivativeBounds {
  double slope = 0.0;
  double curvature = 0.0;
};
DerivativeBounds MissBounds(const SurrogateOptions& options, std::size_t num_classes);
DerivativeBounds SelectionBounds(const SurrogateOptions& options);  // softmax, K > 2

enum class LossKind {
  kCrossEntropy,  // classification: -log p_y
  kSquared,       // regression: (F - y)^2
  kHuber,         // regression: r^2 / 2 up to |r| = huber_delta, then huber_delta (|r| - delta / 2)
};
std::string_view Name(LossKind kind);

struct LossOptions {
  LossKind kind = LossKind::kCrossEntropy;
  double huber_delta = 1.0;  // > 0

  bool operator==(const LossOptions&) const = default;
};
void Validate(const LossOptions& options);
DerivativeBounds LossBounds(const LossOptions& options, std::size_t num_classes);

}  // namespace bregboost
