// Loads and stores that the fused passes share. Compiled once per instruction set, inside a file
// that Highway includes several times.

// clang-format off
#if defined(BREGBOOST_LEARNERS_DETAIL_FUSED_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BREGBOOST_LEARNERS_DETAIL_FUSED_ROWS_INL_H_
#undef BREGBOOST_LEARNERS_DETAIL_FUSED_ROWS_INL_H_
#else
#define BREGBOOST_LEARNERS_DETAIL_FUSED_ROWS_INL_H_
#endif
// clang-format on

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include "learners/detail/float_math-inl.h"
#include "learners/detail/fused_rows.h"

HWY_BEFORE_NAMESPACE();
namespace bregboost::detail::HWY_NAMESPACE {

using DoubleTag = hn::ScalableTag<double>;
using DoubleVec = hn::Vec<DoubleTag>;
using NarrowTag = hn::Rebind<float, DoubleTag>;  // as many floats as a vector has doubles
using IndexTag = hn::RebindToSigned<FloatTag>;
using IndexVec = hn::Vec<IndexTag>;

// The cells of the next rows.
HWY_INLINE IndexVec LoadIndex(const std::uint8_t* cells) {
  const IndexTag di;
  return hn::PromoteTo(di, hn::LoadU(hn::Rebind<std::uint8_t, IndexTag>(), cells));
}
HWY_INLINE IndexVec LoadIndex(const std::uint32_t* cells) {
  const IndexTag di;
  return hn::BitCast(di, hn::LoadU(hn::RebindToUnsigned<IndexTag>(), cells));
}

// True if a table of that many cells is one vector.
HWY_INLINE bool FitsRegister(std::size_t num_cells) { return num_cells <= hn::Lanes(FloatTag()); }

// by_cell[cell], from a register if the table fits in one.
template <bool kInRegister>
HWY_INLINE FloatVec LookUp(const float* by_cell, IndexVec cell) {
  const FloatTag d;
  if (!kInRegister) return hn::GatherIndex(d, by_cell, cell);
  return hn::TableLookupLanes(hn::LoadU(d, by_cell), hn::IndicesFromVec(d, cell));
}

// `n` scores as floats, in place or in `buffer`. A double above 0 stays above 0.
HWY_INLINE const float* AsFloats(const float* scores, std::size_t /*n*/, float* /*buffer*/) {
  return scores;
}
HWY_INLINE const float* AsFloats(const double* scores, std::size_t n, float* buffer) {
  const DoubleTag d;
  const NarrowTag narrow;
  const DoubleVec zero = hn::Zero(d);
  const DoubleVec tiny = hn::Set(d, static_cast<double>(std::numeric_limits<float>::min()));
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const DoubleVec score = hn::LoadU(d, scores + i);
    const DoubleVec kept = hn::Add(score, hn::IfThenElseZero(hn::Gt(score, zero), tiny));
    hn::StoreU(hn::DemoteTo(narrow, kept), narrow, buffer + i);
  }
  return buffer;
}

// gradient += weights * sum over pulls of strength * (score - center), differences in the scores'
// own precision. `first` is the index of scores[0] in the whole array; null weights: all 1.
HWY_INLINE void AddPulls(const PullTerms& pulls, const double* scores, std::size_t first,
                         std::size_t n, const float* weights, float* gradient) {
  const DoubleTag d;
  const NarrowTag narrow;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const DoubleVec score = hn::LoadU(d, scores + i);
    DoubleVec slope = hn::Zero(d);
    for (const PullTerm& pull : pulls.terms) {
      const double* center = std::get<const double*>(pull.center) + first;
      slope =
          hn::MulAdd(hn::Set(d, pull.strength), hn::Sub(score, hn::LoadU(d, center + i)), slope);
    }
    auto added = hn::DemoteTo(narrow, slope);
    if (weights != nullptr) added = hn::Mul(added, hn::LoadU(narrow, weights + i));
    hn::StoreU(hn::Add(hn::LoadU(narrow, gradient + i), added), narrow, gradient + i);
  }
}
HWY_INLINE void AddPulls(const PullTerms& pulls, const float* scores, std::size_t first,
                         std::size_t n, const float* weights, float* gradient) {
  const FloatTag d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const FloatVec score = hn::LoadU(d, scores + i);
    FloatVec slope = hn::Zero(d);
    for (const PullTerm& pull : pulls.terms) {
      const float* center = std::get<const float*>(pull.center) + first;
      slope = hn::MulAdd(hn::Set(d, static_cast<float>(pull.strength)),
                         hn::Sub(score, hn::LoadU(d, center + i)), slope);
    }
    if (weights != nullptr) slope = hn::Mul(slope, hn::LoadU(d, weights + i));
    hn::StoreU(hn::Add(hn::LoadU(d, gradient + i), slope), d, gradient + i);
  }
}

// What the pulls add to the hessian of the rows from `row` on.
HWY_INLINE FloatVec PullCurvature(const PullTerms& pulls, std::size_t row) {
  const FloatTag d;
  const FloatVec curvature = hn::Set(d, pulls.curvature);
  if (pulls.metric_weights == nullptr) return curvature;
  return hn::Mul(curvature, hn::LoadU(d, pulls.metric_weights + row));
}

}  // namespace bregboost::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // BREGBOOST_LEARNERS_DETAIL_FUSED_ROWS_INL_H_
