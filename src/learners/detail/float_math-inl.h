// exp and log1p in float32, about 1e-7 relative, on the ranges that losses need. NaN stays NaN.
// Compiled once per instruction set, inside a file that Highway includes several times.

// clang-format off
#if defined(BREGBOOST_LEARNERS_DETAIL_FLOAT_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BREGBOOST_LEARNERS_DETAIL_FLOAT_MATH_INL_H_
#undef BREGBOOST_LEARNERS_DETAIL_FLOAT_MATH_INL_H_
#else
#define BREGBOOST_LEARNERS_DETAIL_FLOAT_MATH_INL_H_
#endif
// clang-format on

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace bregboost::detail::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using FloatTag = hn::ScalableTag<float>;
using FloatVec = hn::Vec<FloatTag>;

// exp(x) for x <= 0; 0 below -87, where it would leave the normal numbers.
HWY_INLINE FloatVec ExpOfNegative(FloatVec x) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  // x = n log 2 + r. Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
  const FloatVec magic = hn::Set(d, 12582912.0F);
  const FloatVec shifted = hn::MulAdd(x, hn::Set(d, 1.442695041F), magic);
  const FloatVec n = hn::Sub(shifted, magic);
  const FloatVec r = hn::NegMulAdd(n, hn::Set(d, 0.6931471806F), x);
  FloatVec q = hn::MulAdd(r, hn::Set(d, 0.00138145986F), hn::Set(d, 0.00836871698F));
  q = hn::MulAdd(q, r, hn::Set(d, 0.0416683881F));
  q = hn::MulAdd(q, r, hn::Set(d, 0.166665206F));
  q = hn::MulAdd(q, r, hn::Set(d, 0.499999934F));
  const FloatVec one = hn::Set(d, 1.0F);
  const FloatVec exp_r = hn::MulAdd(hn::MulAdd(q, r, one), r, one);
  // Scaled by a product, which carries NaN through; a sum of exponent bits would not.
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted));
  const FloatVec power = hn::BitCast(d, hn::Add(exponent, hn::BitCast(di, one)));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.0F)), hn::Mul(exp_r, power));
}

// log(1 + x) for x in [0, 1]: x times a polynomial, so that small x lose nothing.
HWY_INLINE FloatVec Log1pOfUnit(FloatVec x) {
  const FloatTag d;
  FloatVec q = hn::MulAdd(x, hn::Set(d, 0.0052326937F), hn::Set(d, -0.0295052401F));
  q = hn::MulAdd(q, x, hn::Set(d, 0.0782259609F));
  q = hn::MulAdd(q, x, hn::Set(d, -0.136632473F));
  q = hn::MulAdd(q, x, hn::Set(d, 0.191060079F));
  q = hn::MulAdd(q, x, hn::Set(d, -0.248429827F));
  q = hn::MulAdd(q, x, hn::Set(d, 0.333190969F));
  q = hn::MulAdd(q, x, hn::Set(d, -0.499994931F));
  q = hn::MulAdd(q, x, hn::Set(d, 1.0F));
  return hn::Mul(q, x);
}

}  // namespace bregboost::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // BREGBOOST_LEARNERS_DETAIL_FLOAT_MATH_INL_H_
