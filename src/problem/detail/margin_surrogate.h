// An event as a function of one number (a margin or a residual): value and derivatives.
#pragma once

namespace bregboost::detail {

struct EventTerm {
  double value = 0.0;
  double slope = 0.0;
  double curvature = 0.0;
};

inline EventTerm HingeSquared(double margin) {
  const double short_by = margin >= 1.0 ? 0.0 : 1.0 - margin;  // std::max would drop a NaN
  return {.value = short_by * short_by,
          .slope = -2.0 * short_by,
          .curvature = margin < 1.0 ? 2.0 : 0.0};
}

// The squared hinge down to margin -1, then its tangent there.
inline EventTerm HuberisedHinge(double margin) {
  if (margin >= -1.0) return HingeSquared(margin);
  return {.value = -4.0 * margin, .slope = -4.0, .curvature = 0.0};
}

}  // namespace bregboost::detail
