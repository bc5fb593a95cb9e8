#include "problem/detail/logistic_pass.h"

#include <algorithm>
#include <array>
#include <cmath>

// Highway compiles this file once per instruction set and picks one at run time; the order of its
// headers matters.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "problem/detail/logistic_pass.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace bregboost::detail::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

// Look-ups by cell go through small arrays, so that the arithmetic runs on whole vectors. The block
// is a multiple of every vector length.
constexpr std::size_t kBlock = 512;

struct Logistic {
  V small;    // e = exp(-|F|), in (0, 1]
  V inverse;  // 1 / (1 + e)
};

HWY_INLINE Logistic LogisticOf(V score) {
  const D d;
  const V e = hn::Exp(d, hn::Neg(hn::Abs(score)));
  // Highway's exp does not carry NaN through; a NaN score must not read as a harmless one.
  const V small = hn::IfThenElse(hn::IsNaN(score), score, e);
  return {small, hn::Div(hn::Set(d, 1.0), hn::Add(hn::Set(d, 1.0), small))};
}

HWY_INLINE V Tail(const Logistic& logistic) { return hn::Log1p(D(), logistic.small); }
HWY_INLINE V PositivePart(V score) { return hn::Max(score, hn::Zero(D())); }

// Four numbers that belong together, moved as one short vector.
using D4 = hn::CappedTag<double, 4>;

HWY_INLINE void Copy4(const double* from, double* to) {
  const D4 d;
  for (std::size_t k = 0; k < 4; k += hn::Lanes(d)) hn::StoreU(hn::LoadU(d, from + k), d, to + k);
}

HWY_INLINE void Add4(const double* from, double* to) {
  const D4 d;
  for (std::size_t k = 0; k < 4; k += hn::Lanes(d)) {
    hn::StoreU(hn::Add(hn::LoadU(d, to + k), hn::LoadU(d, from + k)), d, to + k);
  }
}

struct RowCoefficients {
  V a, b, h;
};

HWY_INLINE RowCoefficients GatherOwnErrors(const LogisticTable& table, const std::uint32_t* cells) {
  const D d;
  const hn::RebindToSigned<D> di;
  const hn::Rebind<std::uint32_t, D> du32;
  const auto index =
      hn::BitCast(di, hn::PromoteTo(hn::RebindToUnsigned<D>(), hn::LoadU(du32, cells)));
  const V a = hn::GatherIndex(d, table.own_errors, index);
  const auto label_1 = hn::Gt(index, hn::Set(di, table.first_of_label_1 - 1));
  return {a, hn::IfThenElseZero(hn::RebindMask(d, label_1), a), hn::Max(a, hn::Zero(d))};
}

template <bool kValue>
HWY_INLINE double Derive(const LogisticRows& rows, const LogisticTable& table, double* gradient,
                         double* hessian) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN double coefficients[4 * kBlock];  // of each row of the block, side by side
  HWY_ALIGN double padded[4][kBlock];  // scores, weights, gradient, hessian of the last block
  V total = hn::Zero(d);
  for (std::size_t first = 0; first < rows.size; first += kBlock) {
    const std::size_t n = std::min(kBlock, rows.size - first);
    const bool own_errors = table.own_errors != nullptr && n == kBlock;
    for (std::size_t i = 0; i < n && !own_errors; ++i) {
      Copy4(&table.by_cell[rows.cells[first + i]].a, coefficients + 4 * i);
    }
    const double* scores = rows.scores + first;
    const double* weights = rows.weights == nullptr ? nullptr : rows.weights + first;
    double* gradient_out = gradient + first;
    double* hessian_out = hessian == nullptr ? nullptr : hessian + first;
    const std::size_t whole = (n + lanes - 1) / lanes * lanes;
    if (n < kBlock) {
      // Past the end: score 0 with coefficients 0 adds nothing.
      std::fill(coefficients + 4 * n, coefficients + 4 * whole, 0.0);
      const auto pad = [&](const double* from, double* to) {
        std::copy_n(from, n, to);
        std::fill(to + n, to + whole, 0.0);
        return to;
      };
      scores = pad(scores, padded[0]);
      if (weights != nullptr) weights = pad(weights, padded[1]);
      gradient_out = pad(gradient_out, padded[2]);
      if (hessian != nullptr) hessian_out = pad(hessian_out, padded[3]);
    }
    for (std::size_t i = 0; i < whole; i += lanes) {
      const V score = hn::LoadU(d, scores + i);
      const Logistic logistic = LogisticOf(score);
      V a, b, h, unused;
      if (own_errors) {
        const RowCoefficients row = GatherOwnErrors(table, rows.cells + first + i);
        a = row.a;
        b = row.b;
        h = row.h;
      } else {
        hn::LoadInterleaved4(d, coefficients + 4 * i, a, b, h, unused);
      }
      if (weights != nullptr) {
        const V weight = hn::LoadU(d, weights + i);
        a = hn::Mul(a, weight);
        b = hn::Mul(b, weight);
        h = hn::Mul(h, weight);
      }
      const V sigmoid =
          hn::Mul(hn::IfThenElse(hn::Lt(score, hn::Zero(d)), logistic.small, hn::Set(d, 1.0)),
                  logistic.inverse);
      const V slope = hn::Sub(hn::Mul(a, sigmoid), b);
      hn::StoreU(hn::Add(hn::LoadU(d, gradient_out + i), slope), d, gradient_out + i);
      if (hessian_out != nullptr) {
        const V bend = hn::Mul(logistic.small, hn::Mul(logistic.inverse, logistic.inverse));
        hn::StoreU(hn::MulAdd(h, bend, hn::LoadU(d, hessian_out + i)), d, hessian_out + i);
      }
      if (kValue) {
        // a log(1 + e^F) - b F without cancellation: a tail + (a - b) max(F, 0) + b max(-F, 0).
        const V linear = hn::MulAdd(hn::Sub(a, b), PositivePart(score),
                                    hn::Mul(b, PositivePart(hn::Neg(score))));
        total = hn::Add(total, hn::MulAdd(a, Tail(logistic), linear));
      }
    }
    if (n < kBlock) {
      std::copy_n(padded[2], n, gradient + first);
      if (hessian != nullptr) std::copy_n(padded[3], n, hessian + first);
    }
  }
  return hn::GetLane(hn::SumOfLanes(d, total));
}

void DerivativesTarget(const LogisticRows& rows, const LogisticTable& table, double* gradient,
                       double* hessian) {
  Derive<false>(rows, table, gradient, hessian);
}

double LagrangianTarget(const LogisticRows& rows, const LogisticTable& table, double* gradient,
                        double* hessian) {
  return Derive<true>(rows, table, gradient, hessian);
}

void AccumulateTarget(const LogisticRows& rows, LogisticSums* by_cell) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN double padded[2][kBlock];  // scores and weights of the last block
  HWY_ALIGN double terms[4 * kBlock];  // what each row adds to the sums of its cell
  for (std::size_t first = 0; first < rows.size; first += kBlock) {
    const std::size_t n = std::min(kBlock, rows.size - first);
    const double* scores = rows.scores + first;
    const double* weights = rows.weights == nullptr ? nullptr : rows.weights + first;
    const std::size_t whole = (n + lanes - 1) / lanes * lanes;
    if (n < kBlock) {
      std::fill(std::copy_n(scores, n, padded[0]), padded[0] + whole, 0.0);
      scores = padded[0];
      if (weights != nullptr) {
        std::fill(std::copy_n(weights, n, padded[1]), padded[1] + whole, 0.0);
        weights = padded[1];
      }
    }
    for (std::size_t i = 0; i < whole; i += lanes) {
      const V score = hn::LoadU(d, scores + i);
      const V weight = weights == nullptr ? hn::Set(d, 1.0) : hn::LoadU(d, weights + i);
      // A NaN score selects nothing: the counts become NaN, which never reads as satisfied.
      const V one = hn::IfThenElse(hn::IsNaN(score), score,
                                   hn::IfThenElseZero(hn::Gt(score, hn::Zero(d)), hn::Set(d, 1.0)));
      const V tail = Tail(LogisticOf(score));
      hn::StoreInterleaved4(hn::Mul(weight, hn::Add(tail, PositivePart(score))),
                            hn::Mul(weight, hn::Add(tail, PositivePart(hn::Neg(score)))),
                            hn::Mul(weight, hn::Sub(hn::Set(d, 1.0), one)), hn::Mul(weight, one), d,
                            terms + 4 * i);
    }
    for (std::size_t i = 0; i < n; ++i) {
      Add4(terms + 4 * i, by_cell[rows.cells[first + i]].miss);
    }
  }
}

}  // namespace bregboost::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bregboost::detail {

HWY_EXPORT(DerivativesTarget);
HWY_EXPORT(LagrangianTarget);
HWY_EXPORT(AccumulateTarget);

void AddLogisticDerivatives(const LogisticRows& rows, const LogisticTable& table, double* gradient,
                            double* hessian) {
  HWY_DYNAMIC_DISPATCH(DerivativesTarget)(rows, table, gradient, hessian);
}

double AddLogisticLagrangian(const LogisticRows& rows, const LogisticTable& table, double* gradient,
                             double* hessian) {
  return HWY_DYNAMIC_DISPATCH(LagrangianTarget)(rows, table, gradient, hessian);
}

void AccumulateLogistic(const LogisticRows& rows, LogisticSums* by_cell) {
  HWY_DYNAMIC_DISPATCH(AccumulateTarget)(rows, by_cell);
}

}  // namespace bregboost::detail
#endif
