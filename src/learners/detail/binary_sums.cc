#include "learners/detail/binary_sums.h"

#include <utility>
#include <vector>

// Highway compiles this file once per instruction set and picks one at run time; the order of its
// headers matters.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "learners/detail/binary_sums.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "learners/detail/float_math-inl.h"
#include "learners/detail/fused_rows-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace bregboost::detail::HWY_NAMESPACE {

constexpr std::size_t kBlock = 512;  // what a block needs stays in the first-level cache

// Cross-entropies without overflow or cancellation: log(1 + e^-|F|) + max(+-F, 0).
HWY_INLINE FloatVec TailOf(FloatVec score) {
  return Log1pOfUnit(ExpOfNegative(hn::Neg(hn::Abs(score))));
}
HWY_INLINE FloatVec PositivePart(FloatVec score) {
  return hn::IfThenZeroElse(hn::Lt(score, hn::Zero(FloatTag())), score);  // NaN stays
}
HWY_INLINE FloatVec PredictedOne(FloatVec score) {
  const FloatTag d;
  const FloatVec one = hn::IfThenElseZero(hn::Gt(score, hn::Zero(d)), hn::Set(d, 1.0F));
  return hn::IfThenElse(hn::IsNaN(score), score, one);
}

// to += from * weight, in double; null: 1
template <std::size_t kWidth>
HWY_INLINE void AddRow(const float* HWY_RESTRICT from, const double* HWY_RESTRICT weight,
                       double* HWY_RESTRICT to) {
  const hn::CappedTag<double, kWidth> d;
  const hn::Rebind<float, decltype(d)> narrow;
  for (std::size_t k = 0; k < kWidth; k += hn::Lanes(d)) {
    auto terms = hn::PromoteTo(d, hn::LoadU(narrow, from + k));
    if (weight != nullptr) terms = hn::Mul(terms, hn::Set(d, *weight));
    hn::StoreU(hn::Add(hn::LoadU(d, to + k), terms), d, to + k);
  }
}

// Every row adds kWidth terms to those of its cell, [(cell * kTables + table) * kWidth + term].
// Rows take turns on the tables: with a single one, an addition would wait for the one before it
// wherever two rows share a cell.
template <std::size_t kWidth, std::size_t kTables, bool kWeighted, class Id>
HWY_NOINLINE void AddRows(const float* HWY_RESTRICT terms, const Id* HWY_RESTRICT cells,
                          const double* HWY_RESTRICT weights, std::size_t n,
                          double* HWY_RESTRICT tables) {
  const auto add = [=](std::size_t i, std::size_t table) HWY_ATTR {
    AddRow<kWidth>(terms + kWidth * i, kWeighted ? weights + i : nullptr,
                   tables + kWidth * (kTables * cells[i] + table));
  };
  const auto add_turn = [=]<std::size_t... kTable>(std::size_t i, std::index_sequence<kTable...>)
      HWY_ATTR {
    (add(i + kTable, kTable), ...);
  };
  std::size_t i = 0;
  for (; i + kTables <= n; i += kTables) add_turn(i, std::make_index_sequence<kTables>());
  for (; i < n; ++i) add(i, 0);
}

// Terms of MissSums, in its order.
struct AllTerms {
  static constexpr std::size_t kWidth = 4;

  template <class Id>
  HWY_INLINE void Store(FloatVec score, const Id* /*cells*/, float* terms) const {
    const FloatTag d;
    const FloatVec tail = TailOf(score);
    const FloatVec one = PredictedOne(score);
    hn::StoreInterleaved4(hn::Add(tail, PositivePart(score)),
                          hn::Add(tail, PositivePart(hn::Neg(score))),
                          hn::Sub(hn::Set(d, 1.0F), one), one, d, terms);
  }
  void AddTo(std::size_t /*cell*/, const double* terms, MissSums& sums) const {
    for (std::size_t k = 0; k < 2; ++k) {
      sums.miss[k] += terms[k];
      sums.predicted[k] += terms[2 + k];
    }
  }
};

// The loss of missing the label, and whether 1 is predicted.
struct OwnTerms {
  static constexpr std::size_t kWidth = 2;
  std::uint32_t first_cell_of_label_1 = 0;

  template <class Id>
  HWY_INLINE void Store(FloatVec score, const Id* cells, float* terms) const {
    const FloatTag d;
    const IndexVec last_of_label_0 =
        hn::Set(IndexTag(), static_cast<std::int32_t>(first_cell_of_label_1) - 1);
    const auto is_1 = hn::RebindMask(d, hn::Gt(LoadIndex(cells), last_of_label_0));
    const FloatVec towards_miss = hn::IfThenElse(is_1, hn::Neg(score), score);
    hn::StoreInterleaved2(hn::Add(TailOf(score), PositivePart(towards_miss)), PredictedOne(score),
                          d, terms);
  }
  void AddTo(std::size_t cell, const double* terms, MissSums& sums) const {
    sums.miss[cell >= first_cell_of_label_1 ? 1 : 0] += terms[0];
    sums.predicted[1] += terms[1];
  }
};

template <class Terms, class Id>
HWY_NOINLINE void FillTerms(const Terms& what, const float* HWY_RESTRICT scores,
                            const Id* HWY_RESTRICT cells, std::size_t n,
                            float* HWY_RESTRICT terms) {
  const FloatTag d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    what.Store(hn::LoadU(d, scores + i), cells + i, terms + Terms::kWidth * i);
  }
}

template <std::size_t kTables, bool kWeighted, class Terms, class Score, class Id>
HWY_NOINLINE void Accumulate(const Terms& what, const Score* scores, const Id* cells,
                             const double* weights, std::size_t begin, std::size_t end,
                             std::span<MissSums> by_cell) {
  constexpr std::size_t kWidth = Terms::kWidth;
  HWY_ALIGN float buffer[kBlock];
  HWY_ALIGN float terms[kWidth * kBlock];
  std::vector<double> tables(by_cell.size() * kTables * kWidth, 0.0);
  for (std::size_t at = begin; at < end;) {
    const Block block = NextBlock(at, end, kBlock, hn::Lanes(FloatTag()));
    const float* floats = AsFloats(scores + block.first, block.size, buffer);
    FillTerms(what, floats, cells + block.first, block.size, terms);
    AddRows<kWidth, kTables, kWeighted>(terms + kWidth * block.skip, cells + at,
                                        kWeighted ? weights + at : nullptr, block.end() - at,
                                        tables.data());
    at = block.end();
  }
  for (std::size_t j = 0; j < by_cell.size() * kTables; ++j) {
    what.AddTo(j / kTables, tables.data() + kWidth * j, by_cell[j / kTables]);
  }
}

// More tables than 4 would leave the first-level cache where there are many cells.
constexpr std::size_t kFewCells = 64;

void AccumulateTarget(const BinaryRows& rows, const double* weights, std::size_t begin,
                      std::size_t end, std::span<MissSums> by_cell) {
  std::visit(
      [&](const auto* scores, const auto* cells) {
        if (weights != nullptr) {
          Accumulate<4, true>(AllTerms(), scores, cells, weights, begin, end, by_cell);
        } else if (by_cell.size() > kFewCells) {
          Accumulate<4, false>(AllTerms(), scores, cells, nullptr, begin, end, by_cell);
        } else {
          Accumulate<8, false>(AllTerms(), scores, cells, nullptr, begin, end, by_cell);
        }
      },
      rows.scores, rows.cells);
}

void AccumulateOwnTarget(const BinaryRows& rows, std::uint32_t first_cell_of_label_1,
                         std::size_t begin, std::size_t end, std::span<MissSums> by_cell) {
  const OwnTerms terms{first_cell_of_label_1};
  std::visit(
      [&](const auto* scores, const auto* cells) {
        if (by_cell.size() > kFewCells) {
          Accumulate<4, false>(terms, scores, cells, nullptr, begin, end, by_cell);
        } else {
          Accumulate<8, false>(terms, scores, cells, nullptr, begin, end, by_cell);
        }
      },
      rows.scores, rows.cells);
}

}  // namespace bregboost::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bregboost::detail {

HWY_EXPORT(AccumulateTarget);
HWY_EXPORT(AccumulateOwnTarget);

void AccumulateMisses(const BinaryRows& rows, const double* weights, std::size_t begin,
                      std::size_t end, std::span<MissSums> by_cell) {
  HWY_DYNAMIC_DISPATCH(AccumulateTarget)(rows, weights, begin, end, by_cell);
}

void AccumulateOwnMisses(const BinaryRows& rows, std::uint32_t first_cell_of_label_1,
                         std::size_t begin, std::size_t end, std::span<MissSums> by_cell) {
  HWY_DYNAMIC_DISPATCH(AccumulateOwnTarget)(rows, first_cell_of_label_1, begin, end, by_cell);
}

}  // namespace bregboost::detail
#endif
