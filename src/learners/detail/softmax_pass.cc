#include "learners/detail/softmax_pass.h"

#include <algorithm>
#include <type_traits>
#include <vector>

// Highway compiles this file once per instruction set and picks one at run time; the order of its
// headers matters.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "learners/detail/softmax_pass.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
#include "learners/detail/float_math-inl.h"
#include "learners/detail/fused_rows-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace bregboost::detail::HWY_NAMESPACE {

// Rows of a block: a multiple of every vector length, few enough for the first-level cache.
HWY_INLINE std::size_t BlockSize(std::size_t num_classes) {
  constexpr std::size_t kLanes = HWY_MAX_BYTES / sizeof(float);
  return std::clamp<std::size_t>(2048 / num_classes / kLanes, 1, 256 / kLanes) * kLanes;
}

// Both copy n rows column by column, four at once: one at a time takes twice as long.
template <class T>
HWY_NOINLINE void RowsToColumns(const T* HWY_RESTRICT rows, std::size_t n, std::size_t num_classes,
                                std::size_t stride, T* HWY_RESTRICT columns) {
  for (std::size_t k = 0; k < num_classes; ++k) {
    const T* from = rows + k;
    T* to = columns + k * stride;
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4, from += 4 * num_classes) {
      to[i] = from[0];
      to[i + 1] = from[num_classes];
      to[i + 2] = from[2 * num_classes];
      to[i + 3] = from[3 * num_classes];
    }
    for (; i < n; ++i, from += num_classes) to[i] = *from;
  }
}

HWY_NOINLINE void ColumnsToRows(const float* HWY_RESTRICT columns, std::size_t n,
                                std::size_t num_classes, std::size_t stride,
                                float* HWY_RESTRICT rows) {
  for (std::size_t k = 0; k < num_classes; ++k) {
    const float* from = columns + k * stride;
    float* to = rows + k;
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4, to += 4 * num_classes) {
      to[0] = from[i];
      to[num_classes] = from[i + 1];
      to[2 * num_classes] = from[i + 2];
      to[3 * num_classes] = from[i + 3];
    }
    for (; i < n; ++i, to += num_classes) *to = from[i];
  }
}

// Scores of a block class by class, where they are or in a buffer.
template <class T>
class BlockScores {
 public:
  BlockScores(const ScoreView& view, std::size_t block_size)
      : data_(std::get<const T*>(view.data)),
        num_classes_(view.num_scores),
        row_major_(view.layout == ScoreLayout::kRowMajor),
        stride_(row_major_ ? block_size : view.num_rows),
        buffer_(row_major_ ? num_classes_ * block_size : 0) {}

  void Load(const Block& block) {
    columns_ = data_ + block.first;
    if (!row_major_) return;
    RowsToColumns(data_ + block.first * num_classes_, block.size, num_classes_, stride_,
                  buffer_.data());
    columns_ = buffer_.data();
  }
  const T* columns() const { return columns_; }
  std::size_t stride() const { return stride_; }

 private:
  const T* data_;
  std::size_t num_classes_;
  bool row_major_;
  std::size_t stride_;
  std::vector<T> buffer_;
  const T* columns_ = nullptr;
};

HWY_INLINE void StoreAsFloat(DoubleVec value, float* to) {
  hn::StoreU(hn::DemoteTo(NarrowTag(), value), NarrowTag(), to);
}
HWY_INLINE void StoreAsFloat(FloatVec value, float* to) { hn::StoreU(value, FloatTag(), to); }

// below[k * stride + i]: how far class k is below the largest score, in the scores' own precision.
// The first largest score wins, as in the stock libraries; `predicted` may be null.
template <class T>
HWY_NOINLINE void BelowTop(const T* HWY_RESTRICT columns, std::size_t column_stride,
                           std::size_t num_classes, std::size_t n, std::size_t stride,
                           float* HWY_RESTRICT below, float* HWY_RESTRICT predicted) {
  const hn::ScalableTag<T> d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    auto top = hn::LoadU(d, columns + i);
    auto best = hn::Zero(d);
    for (std::size_t k = 1; k < num_classes; ++k) {
      const auto score = hn::LoadU(d, columns + k * column_stride + i);
      const auto higher = hn::Gt(score, top);
      top = hn::IfThenElse(higher, score, top);
      best = hn::IfThenElse(higher, hn::Set(d, static_cast<T>(k)), best);
    }
    if (predicted != nullptr) StoreAsFloat(best, predicted + i);
    for (std::size_t k = 0; k < num_classes; ++k) {
      const auto score = hn::LoadU(d, columns + k * column_stride + i);
      StoreAsFloat(hn::Sub(score, top), below + k * stride + i);
    }
  }
}

// What is left of sum_k e_k, e_k = exp(below_k), without the largest term, which is 1.
class Rest {
 public:
  HWY_INLINE Rest() : ones_(hn::Zero(FloatTag())), below_(hn::Zero(FloatTag())) {}

  HWY_INLINE void Add(FloatVec e) {
    const FloatTag d;
    const FloatVec one = hn::Set(d, 1.0F);
    const auto is_top = hn::Eq(e, one);
    ones_ = hn::Add(ones_, hn::IfThenElseZero(is_top, one));
    below_ = hn::Add(below_, hn::IfThenZeroElse(is_top, e));
  }
  HWY_INLINE FloatVec Sum() const {
    return hn::Add(below_, hn::Sub(ones_, hn::Set(FloatTag(), 1.0F)));
  }

 private:
  FloatVec ones_;
  FloatVec below_;
};

struct BlockOutput {
  float* gradient = nullptr;
  float* hessian = nullptr;
  std::size_t stride = 0;  // from class to class
};

template <bool kInRegister, class Id>
HWY_NOINLINE void DeriveBlock(float* HWY_RESTRICT below, std::size_t stride,
                              std::size_t num_classes, const Block& block, const Id* cells,
                              std::span<const ChargeTable> tables, const PullTerms& pulls,
                              const BlockOutput& out) {
  const FloatTag d;
  const FloatVec one = hn::Set(d, 1.0F);
  for (std::size_t i = 0; i < block.size; i += hn::Lanes(d)) {
    Rest rest;
    for (std::size_t k = 0; k < num_classes; ++k) {
      const FloatVec e = ExpOfNegative(hn::LoadU(d, below + k * stride + i));
      hn::StoreU(e, d, below + k * stride + i);
      rest.Add(e);
    }
    const FloatVec others_of_top = rest.Sum();
    const FloatVec sum = hn::Add(one, others_of_top);
    const FloatVec inverse = hn::Div(one, sum);
    const std::size_t row = block.first + i;
    const IndexVec cell = LoadIndex(cells + row);
    const FloatVec curvature = PullCurvature(pulls, row);
    const auto look_up = [&](const float* ChargeTable::*values, std::size_t k) HWY_ATTR {
      FloatVec total = hn::Zero(d);
      for (const ChargeTable& table : tables) {
        const FloatVec value = LookUp<kInRegister>(table.*values + k * table.stride, cell);
        total = table.weights == nullptr
                    ? hn::Add(total, value)
                    : hn::MulAdd(value, hn::LoadU(d, table.weights + row), total);
      }
      return total;
    };
    const FloatVec total = look_up(&ChargeTable::totals, 0);
    const FloatVec bend = look_up(&ChargeTable::bends, 0);
    for (std::size_t k = 0; k < num_classes; ++k) {
      const FloatVec e = hn::LoadU(d, below + k * stride + i);
      const FloatVec others = hn::IfThenElse(hn::Eq(e, one), others_of_top, hn::Sub(sum, e));
      const FloatVec p = hn::Mul(e, inverse);
      const FloatVec q = hn::Mul(others, inverse);
      const FloatVec charge = look_up(&ChargeTable::charges, k);
      const FloatVec slope = hn::NegMulAdd(charge, q, hn::Mul(hn::Sub(total, charge), p));
      hn::StoreU(slope, d, out.gradient + k * out.stride + i);
      hn::StoreU(hn::MulAdd(bend, hn::Mul(p, q), curvature), d, out.hessian + k * out.stride + i);
    }
  }
}

// Adds the pulls to the gradient of a block, where it is in the end.
template <class T>
HWY_INLINE void AddPullsToBlock(const ScoreView& view, const PullTerms& pulls, const Block& block,
                                std::vector<float>& weights, float* gradient) {
  const T* scores = std::get<const T*>(view.data);
  const float* metric = pulls.metric_weights;
  if (view.layout == ScoreLayout::kClassMajor) {
    for (std::size_t k = 0; k < view.num_scores; ++k) {
      const std::size_t at = k * view.num_rows + block.first;
      AddPulls(pulls, scores + at, at, block.size,
               metric == nullptr ? nullptr : metric + block.first, gradient + at);
    }
    return;
  }
  const std::size_t at = block.first * view.num_scores;
  const std::size_t size = block.size * view.num_scores;
  if (metric != nullptr) {
    weights.resize(size);
    for (std::size_t i = 0; i < size; ++i) weights[i] = metric[block.first + i / view.num_scores];
  }
  AddPulls(pulls, scores + at, at, size, metric == nullptr ? nullptr : weights.data(),
           gradient + at);
}

template <class T, class Id>
HWY_NOINLINE void Derive(const ScoreView& view, const Id* cells,
                         std::span<const ChargeTable> tables, const PullTerms& pulls,
                         std::size_t begin, std::size_t end, float* gradient, float* hessian) {
  const std::size_t num_classes = view.num_scores;
  const bool row_major = view.layout == ScoreLayout::kRowMajor;
  const std::size_t stride = BlockSize(num_classes);
  const std::size_t width = num_classes * stride;
  BlockScores<T> scores(view, stride);
  std::vector<float> below(width), gradient_columns(row_major ? width : 0),
      hessian_columns(row_major ? width : 0), pull_weights;
  for (std::size_t at = begin; at < end;) {
    const Block block = NextBlock(at, end, stride, hn::Lanes(FloatTag()));
    at = block.end();
    scores.Load(block);
    BelowTop(scores.columns(), scores.stride(), num_classes, block.size, stride, below.data(),
             nullptr);
    const auto derive = [&](const BlockOutput& out) {
      if (FitsRegister(tables.front().num_cells)) {
        DeriveBlock<true>(below.data(), stride, num_classes, block, cells, tables, pulls, out);
      } else {
        DeriveBlock<false>(below.data(), stride, num_classes, block, cells, tables, pulls, out);
      }
    };
    if (row_major) {
      derive({gradient_columns.data(), hessian_columns.data(), stride});
      const std::size_t first = block.first * num_classes;
      ColumnsToRows(gradient_columns.data(), block.size, num_classes, stride, gradient + first);
      ColumnsToRows(hessian_columns.data(), block.size, num_classes, stride, hessian + first);
    } else {
      derive({gradient + block.first, hessian + block.first, view.num_rows});
    }
    if (!pulls.terms.empty()) AddPullsToBlock<T>(view, pulls, block, pull_weights, gradient);
  }
}

void DeriveTarget(const SoftmaxRows& rows, std::span<const ChargeTable> tables,
                  const PullTerms& pulls, std::size_t begin, std::size_t end, float* gradient,
                  float* hessian) {
  std::visit(
      [&](const auto* scores, const auto* cells) {
        using T = std::remove_cvref_t<decltype(*scores)>;
        Derive<T>(*rows.scores, cells, tables, pulls, begin, end, gradient, hessian);
      },
      rows.scores->data, rows.cells);
}

// log sum_k exp(below_k), and 1 for rows that count: NaN for those with a NaN score.
HWY_NOINLINE void LogSums(const float* HWY_RESTRICT below, std::size_t stride,
                          std::size_t num_classes, std::size_t n, float* HWY_RESTRICT log_sums,
                          float* HWY_RESTRICT counts) {
  const FloatTag d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    Rest rest;
    for (std::size_t k = 0; k < num_classes; ++k) {
      rest.Add(ExpOfNegative(hn::LoadU(d, below + k * stride + i)));
    }
    const FloatVec others = rest.Sum();
    const auto is_nan = hn::IsNaN(others);
    // Highway's logarithm does not carry NaN through.
    hn::StoreU(hn::IfThenElse(is_nan, others, hn::Log1p(d, others)), d, log_sums + i);
    hn::StoreU(hn::IfThenElse(is_nan, others, hn::Set(d, 1.0F)), d, counts + i);
  }
}

template <class T, class Id>
HWY_NOINLINE void Accumulate(const ScoreView& view, const Id* cells, const SoftmaxTargets& targets,
                             const double* weights, std::size_t begin, std::size_t end,
                             std::span<double> sums) {
  const std::size_t num_classes = view.num_scores;
  const std::size_t num_sums = NumSoftmaxSums(num_classes);
  const std::size_t stride = BlockSize(num_classes);
  BlockScores<T> scores(view, stride);
  std::vector<float> below(num_classes * stride), predicted(stride), log_sums(stride),
      counts(stride);
  // Rows take turns on several tables, so that no addition waits for the one before it; on one
  // where more would leave the cache. Both are powers of 2.
  const std::size_t num_tables = sums.size() <= 1024 ? 4 : 1;
  std::vector<double> tables(num_tables * sums.size(), 0.0);
  for (std::size_t at = begin; at < end;) {
    const Block block = NextBlock(at, end, stride, hn::Lanes(FloatTag()));
    at = block.end();
    scores.Load(block);
    BelowTop(scores.columns(), scores.stride(), num_classes, block.size, stride, below.data(),
             predicted.data());
    LogSums(below.data(), stride, num_classes, block.size, log_sums.data(), counts.data());
    for (std::size_t i = block.skip; i < block.size; ++i) {
      const std::size_t cell = cells[block.first + i];
      const double weight = weights == nullptr ? 1.0 : weights[block.first + i];
      double* to = tables.data() + (i & (num_tables - 1)) * sums.size() + cell * num_sums;
      const auto loss = [&](std::int32_t target) {
        const float value = log_sums[i] - below[static_cast<std::size_t>(target) * stride + i];
        return weight * static_cast<double>(value);
      };
      to[kSumOfLabelLoss] += loss(targets.labels[cell]);
      if (!targets.baselines.empty()) to[kSumOfBaselineLoss] += loss(targets.baselines[cell]);
      to[kFirstPredictedSum + static_cast<std::size_t>(predicted[i])] +=
          weight * static_cast<double>(counts[i]);
    }
  }
  for (std::size_t j = 0; j < tables.size(); ++j) sums[j % sums.size()] += tables[j];
}

void AccumulateTarget(const SoftmaxRows& rows, const SoftmaxTargets& targets, const double* weights,
                      std::size_t begin, std::size_t end, std::span<double> sums) {
  std::visit(
      [&](const auto* scores, const auto* cells) {
        using T = std::remove_cvref_t<decltype(*scores)>;
        Accumulate<T>(*rows.scores, cells, targets, weights, begin, end, sums);
      },
      rows.scores->data, rows.cells);
}

}  // namespace bregboost::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bregboost::detail {

HWY_EXPORT(DeriveTarget);
HWY_EXPORT(AccumulateTarget);

void DeriveCharges(const SoftmaxRows& rows, std::span<const ChargeTable> tables,
                   const PullTerms& pulls, std::size_t begin, std::size_t end, float* gradient,
                   float* hessian) {
  HWY_DYNAMIC_DISPATCH(DeriveTarget)(rows, tables, pulls, begin, end, gradient, hessian);
}

void AccumulateSoftmax(const SoftmaxRows& rows, const SoftmaxTargets& targets,
                       const double* weights, std::size_t begin, std::size_t end,
                       std::span<double> sums) {
  HWY_DYNAMIC_DISPATCH(AccumulateTarget)(rows, targets, weights, begin, end, sums);
}

}  // namespace bregboost::detail
#endif
