#include "learners/detail/binary_derivatives.h"

#include <vector>

// Highway compiles this file once per instruction set and picks one at run time; the order of its
// headers matters.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "learners/detail/binary_derivatives.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "learners/detail/float_math-inl.h"
#include "learners/detail/fused_rows-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace bregboost::detail::HWY_NAMESPACE {

constexpr std::size_t kBlock = 512;  // what a block needs stays in the first-level cache

struct Sigmoid {
  FloatVec p;  // sigmoid(F)
  FloatVec q;  // sigmoid(-F)
};

HWY_INLINE Sigmoid SigmoidOf(FloatVec score) {
  const FloatTag d;
  const FloatVec one = hn::Set(d, 1.0F);
  const FloatVec small = ExpOfNegative(hn::Neg(hn::Abs(score)));
  const FloatVec inverse = hn::Div(one, hn::Add(one, small));
  const auto negative = hn::Lt(score, hn::Zero(d));
  const FloatVec rest = hn::Mul(small, inverse);
  return {hn::IfThenElse(negative, rest, inverse), hn::IfThenElse(negative, inverse, rest)};
}

template <class Score>
HWY_INLINE void AddPullsToRows(const PullTerms& pulls, const Score* scores, const Block& block,
                               float* gradient) {
  if (pulls.terms.empty()) return;
  const float* weights = pulls.metric_weights;
  AddPulls(pulls, scores + block.first, block.first, block.size,
           weights == nullptr ? nullptr : weights + block.first, gradient + block.first);
}

struct RowCoefficients {
  FloatVec miss_0, miss_1, bend;
};

// Coefficients of rows from a table that fits into registers.
class RegisterTable {
 public:
  explicit RegisterTable(const MissTable& table) {
    for (std::size_t c = 0; c < table.num_cells; ++c) {
      miss_0_[c] = table.by_cell[c].miss[0];
      miss_1_[c] = table.by_cell[c].miss[1];
      bend_[c] = table.by_cell[c].bend;
    }
  }

  template <class Id>
  void BeginBlock(const Id* /*cells*/, std::size_t /*n*/) {}

  // Of the rows from i on.
  template <class Id>
  HWY_INLINE RowCoefficients At(const Id* cells, std::size_t i) const {
    const IndexVec cell = LoadIndex(cells + i);
    return {LookUp<true>(miss_0_, cell), LookUp<true>(miss_1_, cell), LookUp<true>(bend_, cell)};
  }

 private:
  HWY_ALIGN float miss_0_[kFewestTableEntries] = {};
  HWY_ALIGN float miss_1_[kFewestTableEntries] = {};
  HWY_ALIGN float bend_[kFewestTableEntries] = {};
};

// The same from memory: the four numbers of each row of a block are moved at once.
class MemoryTable {
 public:
  explicit MemoryTable(const MissTable& table) : by_cell_(table.by_cell) {}

  template <class Id>
  HWY_INLINE void BeginBlock(const Id* HWY_RESTRICT cells, std::size_t n) {
    const hn::CappedTag<float, 4> d;
    const MissCoefficients* HWY_RESTRICT by_cell = by_cell_;
    float* HWY_RESTRICT to = of_rows_;
    for (std::size_t i = 0; i < n; ++i, to += 4) {
      const float* from = by_cell[cells[i]].miss;
      for (std::size_t k = 0; k < 4; k += hn::Lanes(d)) {
        hn::StoreU(hn::LoadU(d, from + k), d, to + k);
      }
    }
  }

  template <class Id>
  HWY_INLINE RowCoefficients At(const Id* /*cells*/, std::size_t i) const {
    FloatVec miss_0, miss_1, bend, unused;
    hn::LoadInterleaved4(FloatTag(), of_rows_ + 4 * i, miss_0, miss_1, bend, unused);
    return {miss_0, miss_1, bend};
  }

 private:
  const MissCoefficients* by_cell_;
  HWY_ALIGN float of_rows_[4 * kBlock];
};

template <class Table, class Score, class Id>
HWY_NOINLINE void Derive(const Score* scores, const Id* cells, std::span<const MissTable> tables,
                         const PullTerms& pulls, std::size_t begin, std::size_t end,
                         float* HWY_RESTRICT gradient, float* HWY_RESTRICT hessian) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::vector<Table> sources(tables.begin(), tables.end());
  HWY_ALIGN float buffer[kBlock];
  for (std::size_t at = begin; at < end;) {
    const Block block = NextBlock(at, end, kBlock, lanes);
    const std::size_t first = block.first, n = block.size;
    at = block.end();
    const float* floats = AsFloats(scores + first, n, buffer);
    for (Table& source : sources) source.BeginBlock(cells + first, n);
    for (std::size_t i = 0; i < n; i += lanes) {
      const std::size_t row = first + i;
      FloatVec miss_0 = hn::Zero(d), miss_1 = hn::Zero(d), bend = hn::Zero(d);
      for (std::size_t t = 0; t < sources.size(); ++t) {
        const RowCoefficients added = sources[t].At(cells + first, i);
        const FloatVec weight =
            tables[t].weights == nullptr ? hn::Set(d, 1.0F) : hn::LoadU(d, tables[t].weights + row);
        miss_0 = hn::MulAdd(added.miss_0, weight, miss_0);
        miss_1 = hn::MulAdd(added.miss_1, weight, miss_1);
        bend = hn::MulAdd(added.bend, weight, bend);
      }
      const Sigmoid sigmoid = SigmoidOf(hn::LoadU(d, floats + i));
      hn::StoreU(hn::NegMulAdd(miss_1, sigmoid.q, hn::Mul(miss_0, sigmoid.p)), d, gradient + row);
      hn::StoreU(hn::MulAdd(bend, hn::Mul(sigmoid.p, sigmoid.q), PullCurvature(pulls, row)), d,
                 hessian + row);
    }
    AddPullsToRows(pulls, scores, block, gradient);
  }
}

void DeriveTarget(const BinaryRows& rows, std::span<const MissTable> tables, const PullTerms& pulls,
                  std::size_t begin, std::size_t end, float* gradient, float* hessian) {
  std::visit(
      [&](const auto* scores, const auto* cells) {
        if (FitsRegister(tables.front().num_cells)) {
          Derive<RegisterTable>(scores, cells, tables, pulls, begin, end, gradient, hessian);
        } else {
          Derive<MemoryTable>(scores, cells, tables, pulls, begin, end, gradient, hessian);
        }
      },
      rows.scores, rows.cells);
}

}  // namespace bregboost::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bregboost::detail {

HWY_EXPORT(DeriveTarget);

void DeriveMisses(const BinaryRows& rows, std::span<const MissTable> tables, const PullTerms& pulls,
                  std::size_t begin, std::size_t end, float* gradient, float* hessian) {
  HWY_DYNAMIC_DISPATCH(DeriveTarget)(rows, tables, pulls, begin, end, gradient, hessian);
}

}  // namespace bregboost::detail
#endif
