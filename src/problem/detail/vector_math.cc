#include "problem/detail/vector_math.h"

#include <algorithm>

// Highway compiles this file once per instruction set and picks one at run time; the order of its
// headers matters.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "problem/detail/vector_math.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace bregboost::detail::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;

// Runs `body(offset, count)` on whole vectors; and once on the partial one at the end.
template <class Body>
void ForVectors(std::size_t n, const Body& body) {
  const std::size_t lanes = hn::Lanes(D());
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) body(i, lanes);
  if (i < n) body(i, n - i);
}

// Room for the partial vector at the end of an array; one extra so that a compiler which does not
// see `count < lanes` on one-lane targets has nothing to warn about.
constexpr std::size_t kPadded = HWY_MAX_BYTES / sizeof(double) + 1;

HWY_INLINE hn::Vec<D> LoadUpTo(const double* from, std::size_t count) {
  const D d;
  if (count == hn::Lanes(d)) return hn::LoadU(d, from);
  HWY_ALIGN double padded[kPadded] = {};
  std::copy_n(from, count, padded);
  return hn::Load(d, padded);
}

HWY_INLINE void StoreUpTo(hn::Vec<D> value, std::size_t count, double* to) {
  const D d;
  if (count == hn::Lanes(d)) {
    hn::StoreU(value, d, to);
    return;
  }
  HWY_ALIGN double padded[kPadded];
  hn::Store(value, d, padded);
  std::copy_n(padded, count, to);
}

HWY_INLINE hn::Vec<D> KeepNaN(hn::Vec<D> input, hn::Vec<D> output) {
  return hn::IfThenElse(hn::IsNaN(input), input, output);
}

void ExpTarget(const double* HWY_RESTRICT x, std::size_t n, double* out) {
  ForVectors(n, [&](std::size_t i, std::size_t count) {
    const auto v = LoadUpTo(x + i, count);
    StoreUpTo(KeepNaN(v, hn::Exp(D(), v)), count, out + i);
  });
}

template <bool kWithTail>
HWY_INLINE void Logistic(const double* x, std::size_t n, double* sigmoid, double* tail) {
  const D d;
  const auto one = hn::Set(d, 1.0);
  ForVectors(n, [&](std::size_t i, std::size_t count) {
    const auto v = LoadUpTo(x + i, count);
    const auto e = hn::Exp(d, hn::Neg(hn::Abs(v)));  // in (0, 1]
    const auto numerator = hn::IfThenElse(hn::Ge(v, hn::Zero(d)), one, e);
    StoreUpTo(KeepNaN(v, hn::Div(numerator, hn::Add(one, e))), count, sigmoid + i);
    if (kWithTail) StoreUpTo(KeepNaN(v, hn::Log1p(d, e)), count, tail + i);
  });
}

void LogisticTarget(const double* x, std::size_t n, double* sigmoid, double* tail) {
  Logistic<true>(x, n, sigmoid, tail);
}

void SigmoidTarget(const double* x, std::size_t n, double* sigmoid) {
  Logistic<false>(x, n, sigmoid, nullptr);
}

void FirstLargestTarget(const double* columns, std::size_t stride, std::size_t num_columns,
                        std::size_t n, double* first) {
  const D d;
  ForVectors(n, [&](std::size_t i, std::size_t count) {
    auto largest = LoadUpTo(columns + i, count);
    auto result = KeepNaN(largest, hn::Zero(d));
    for (std::size_t k = 1; k < num_columns; ++k) {
      const auto v = LoadUpTo(columns + k * stride + i, count);
      const auto k_if_larger =
          hn::IfThenElse(hn::Gt(v, largest), hn::Set(d, static_cast<double>(k)), result);
      result = KeepNaN(result, KeepNaN(v, k_if_larger));
      largest = hn::Max(v, largest);
    }
    StoreUpTo(result, count, first + i);
  });
}

}  // namespace bregboost::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bregboost::detail {

HWY_EXPORT(ExpTarget);
HWY_EXPORT(LogisticTarget);
HWY_EXPORT(SigmoidTarget);
HWY_EXPORT(FirstLargestTarget);

void ExpArray(const double* x, std::size_t n, double* out) {
  HWY_DYNAMIC_DISPATCH(ExpTarget)(x, n, out);
}

void LogisticArray(const double* x, std::size_t n, double* sigmoid, double* tail) {
  HWY_DYNAMIC_DISPATCH(LogisticTarget)(x, n, sigmoid, tail);
}

void SigmoidArray(const double* x, std::size_t n, double* sigmoid) {
  HWY_DYNAMIC_DISPATCH(SigmoidTarget)(x, n, sigmoid);
}

void FirstLargestArray(const double* columns, std::size_t stride, std::size_t num_columns,
                       std::size_t n, double* first) {
  HWY_DYNAMIC_DISPATCH(FirstLargestTarget)(columns, stride, num_columns, n, first);
}

}  // namespace bregboost::detail
#endif
