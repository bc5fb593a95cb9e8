#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "detail/parallel.h"
#include "problem/detail/event_kernel.h"
#include "problem/detail/logistic_pass.h"
#include "problem/detail/margin_surrogate.h"
#include "problem/detail/vector_math.h"

namespace bregboost::detail {
namespace {

// Rows are handled in blocks that stay in the first-level cache, so that the transcendental part
// runs on whole vectors and the table look-ups on what it left behind.
constexpr std::size_t kBlock = 512;
using BlockArray = std::array<double, kBlock>;

// Events "misses class 0" and "misses class 1" with derivatives in the score F.
struct MissBlock {
  alignas(64) std::array<BlockArray, 2> value;
  alignas(64) std::array<BlockArray, 2> slope;
  alignas(64) std::array<BlockArray, 2> curvature;
};

// Slots of a binary layout, in the order of RateCompiler: miss 0, miss 1, loss.
constexpr std::size_t kSlots = 3;
constexpr std::size_t kLossSlot = 2;

// Misses class 0 by log(1 + e^F), class 1 by log(1 + e^-F), in units of 1 / scale.
void FillCrossEntropy(const double* scores, std::size_t n, double scale, MissBlock& block) {
  alignas(64) BlockArray sigmoid;
  alignas(64) BlockArray tail;
  LogisticArray(scores, n, sigmoid.data(), tail.data());
  for (std::size_t i = 0; i < n; ++i) {
    const double p = sigmoid[i];
    block.value[0][i] = scale * (tail[i] + std::max(scores[i], 0.0));
    block.value[1][i] = scale * (tail[i] + std::max(-scores[i], 0.0));
    block.slope[0][i] = scale * p;
    block.slope[1][i] = scale * (p - 1.0);
    block.curvature[0][i] = block.curvature[1][i] = scale * p * (1.0 - p);
  }
}

void FillSigmoid(const double* scores, std::size_t n, double temperature, MissBlock& block) {
  alignas(64) BlockArray scaled{};
  alignas(64) BlockArray sigmoid;
  for (std::size_t i = 0; i < n; ++i) scaled[i] = scores[i] / temperature;
  SigmoidArray(scaled.data(), n, sigmoid.data());
  for (std::size_t i = 0; i < n; ++i) {
    const double p = sigmoid[i];
    const double slope = p * (1.0 - p) / temperature;
    const double curvature = slope * (1.0 - 2.0 * p) / temperature;
    block.value[0][i] = p;
    block.value[1][i] = 1.0 - p;
    block.slope[0][i] = slope;
    block.slope[1][i] = -slope;
    block.curvature[0][i] = curvature;
    block.curvature[1][i] = -curvature;
  }
}

template <class Surrogate>
void FillMargin(const double* scores, std::size_t n, const Surrogate& surrogate, MissBlock& block) {
  for (std::size_t i = 0; i < n; ++i) {
    const EventTerm zero = surrogate(-scores[i]);  // the margin towards class 0 is -F
    const EventTerm one = surrogate(scores[i]);
    block.value[0][i] = zero.value;
    block.value[1][i] = one.value;
    block.slope[0][i] = -zero.slope;
    block.slope[1][i] = one.slope;
    block.curvature[0][i] = zero.curvature;
    block.curvature[1][i] = one.curvature;
  }
}

void Clip(double limit, std::size_t n, MissBlock& block) {
  for (std::size_t missed = 0; missed < 2; ++missed) {
    for (std::size_t i = 0; i < n; ++i) {
      if (!(block.value[missed][i] > limit)) continue;  // NaN stays
      block.value[missed][i] = limit;
      block.slope[missed][i] = block.curvature[missed][i] = 0.0;
    }
  }
}

void FillMisses(const SurrogateOptions& options, const double* scores, std::size_t n,
                MissBlock& block) {
  switch (options.kind) {
    case SurrogateKind::kCrossEntropy:
      FillCrossEntropy(scores, n, 1.0, block);
      break;
    case SurrogateKind::kLogisticBase2:
      FillCrossEntropy(scores, n, std::numbers::log2e, block);
      break;
    case SurrogateKind::kHingeSquared:
      FillMargin(scores, n, HingeSquared, block);
      break;
    case SurrogateKind::kHuberisedHinge:
      FillMargin(scores, n, HuberisedHinge, block);
      break;
    case SurrogateKind::kSigmoid:
      FillSigmoid(scores, n, options.temperature, block);
      break;
  }
  if (std::isfinite(options.clip)) Clip(options.clip, n, block);
}

// Surrogates whose passes are fused in logistic_pass.h; their unit is 1 / LogisticScale nats.
bool IsLogistic(const SurrogateOptions& options) {
  return std::isinf(options.clip) && (options.kind == SurrogateKind::kCrossEntropy ||
                                      options.kind == SurrogateKind::kLogisticBase2);
}
double LogisticScale(const SurrogateOptions& options) {
  return options.kind == SurrogateKind::kLogisticBase2 ? std::numbers::log2e : 1.0;
}

// Adds every row to what its cell predicts.
void AddPredicted(const LogisticRows& rows, std::vector<LogisticSums>& by_cell) {
  bool undefined = false;
  if (rows.weights == nullptr) {
    // Neighbours count in tables of their own: in one, rows of a cell would wait for each other.
    constexpr std::size_t kTables = 4;
    std::vector<std::array<std::uint32_t, 2>> counts(kTables * by_cell.size());
    for (std::size_t i = 0; i < rows.size; ++i) {
      const double score = rows.scores[i];
      undefined |= std::isnan(score);
      ++counts[rows.cells[i] * kTables + i % kTables][score > 0.0 ? 1 : 0];
    }
    for (std::size_t j = 0; j < counts.size(); ++j) {
      for (std::size_t k = 0; k < 2; ++k) by_cell[j / kTables].selected[k] += counts[j][k];
    }
  } else {
    for (std::size_t i = 0; i < rows.size; ++i) {
      const double score = rows.scores[i];
      undefined |= std::isnan(score);
      by_cell[rows.cells[i]].selected[score > 0.0 ? 1 : 0] += rows.weights[i];
    }
  }
  // A NaN score selects nothing: the counts become NaN, which never reads as satisfied.
  for (std::size_t i = 0; i < rows.size && undefined; ++i) {
    if (!std::isnan(rows.scores[i])) continue;
    for (double& selected : by_cell[rows.cells[i]].selected) selected = rows.scores[i];
  }
}

class BinaryKernel final : public EventKernel {
 public:
  explicit BinaryKernel(EventLayout layout)
      : layout_(std::move(layout)),
        uses_loss_(layout_.used[kLossSlot]),
        is_logistic_(IsLogistic(layout_.surrogate)) {
    for (const Cell& cell : layout_.cells->cells) label_of_cell_.push_back(cell.label);
  }

  EventSums Accumulate(std::span<const double> scores) const override {
    const std::size_t num_cells = layout_.cells->cells.size();
    const std::size_t chunks = NumChunks(scores.size());
    std::vector<std::vector<LogisticSums>> partial(chunks);
    std::vector<std::vector<double>> loss(chunks);
    ForEachChunk(scores.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
      partial[chunk].resize(num_cells);
      loss[chunk].resize(uses_loss_ ? num_cells : 0);
      if (is_logistic_) {
        AccumulateLogistic(Rows(scores, begin, end), partial[chunk].data());
      } else {
        AccumulateRows(scores, begin, end, partial[chunk], loss[chunk]);
      }
    });
    EventSums sums{.exact = std::vector<double>(layout_.num_sums(), 0.0),
                   .surrogate = std::vector<double>(layout_.num_sums(), 0.0)};
    const double scale = is_logistic_ ? LogisticScale(layout_.surrogate) : 1.0;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      for (std::size_t c = 0; c < num_cells; ++c) {
        const LogisticSums& cell = partial[chunk][c];
        for (std::size_t k = 0; k < 2; ++k) {
          sums.surrogate[c * kSlots + k] += scale * cell.miss[k];
          sums.exact[c * kSlots + k] += cell.selected[1 - k];
        }
        if (!uses_loss_) continue;
        const double cell_loss = is_logistic_ ? LossOf(cell, c) : loss[chunk][c];
        sums.surrogate[c * kSlots + kLossSlot] += cell_loss;
        sums.exact[c * kSlots + kLossSlot] += cell_loss;
      }
    }
    return sums;
  }

  std::vector<double> AccumulateExact(std::span<const double> scores) const override {
    std::vector<std::vector<LogisticSums>> partial(NumChunks(scores.size()));
    ForEachChunk(scores.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
      partial[chunk].resize(label_of_cell_.size());
      if (uses_loss_) {
        AccumulateLogistic(Rows(scores, begin, end), partial[chunk].data());
      } else {
        AddPredicted(Rows(scores, begin, end), partial[chunk]);
      }
    });
    std::vector<double> exact(layout_.num_sums(), 0.0);
    for (const std::vector<LogisticSums>& cells : partial) {
      for (std::size_t c = 0; c < cells.size(); ++c) {
        for (std::size_t k = 0; k < 2; ++k) exact[c * kSlots + k] += cells[c].selected[1 - k];
        if (uses_loss_) exact[c * kSlots + kLossSlot] += LossOf(cells[c], c);
      }
    }
    return exact;
  }

  std::vector<double> AccumulateTangents(std::span<const double> at,
                                         std::span<const double> scores) const override {
    const std::size_t chunks = NumChunks(scores.size());
    std::vector<std::vector<double>> partial(chunks);
    ForEachChunk(scores.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
      partial[chunk].resize(layout_.num_sums());
      MissBlock block;
      MissBlock loss;
      for (std::size_t first = begin; first < end; first += kBlock) {
        const std::size_t n = std::min(kBlock, end - first);
        FillBoth(at.data() + first, n, block, loss);
        for (std::size_t i = 0; i < n; ++i) {
          const std::size_t row = first + i;
          const double weight = layout_.weight(row);
          const double change = scores[row] - at[row];
          const std::size_t cell = layout_.cells->cell_of_row[row];
          double* sums = partial[chunk].data() + cell * kSlots;
          for (std::size_t k = 0; k < 2; ++k) {
            sums[k] += weight * (block.value[k][i] + block.slope[k][i] * change);
          }
          if (!uses_loss_) continue;
          const auto label = static_cast<std::size_t>(label_of_cell_[cell]);
          sums[kLossSlot] += weight * (loss.value[label][i] + loss.slope[label][i] * change);
        }
      }
    });
    std::vector<double> total(layout_.num_sums(), 0.0);
    AddInOrder(partial, total);
    return total;
  }

  double AddDerivatives(std::span<const double> scores, std::span<const double> coefficients,
                        std::span<double> gradient, std::span<double> hessian,
                        bool want_value) const override {
    if (is_logistic_) {
      return AddLogistic(scores, coefficients, gradient, hessian, want_value);
    }
    std::vector<double> partial(NumChunks(scores.size()), 0.0);
    ForEachChunk(scores.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
      MissBlock block;
      MissBlock loss;
      for (std::size_t first = begin; first < end; first += kBlock) {
        const std::size_t n = std::min(kBlock, end - first);
        FillBoth(scores.data() + first, n, block, loss);
        partial[chunk] += AddBlock(first, n, block, coefficients, gradient, hessian);
        if (uses_loss_) {
          partial[chunk] += AddLossBlock(first, n, loss, coefficients, gradient, hessian);
        }
      }
    });
    double total = 0.0;
    for (const double part : partial) total += part;
    return total;
  }

 private:
  // Cross-entropy towards the label of cell c.
  double LossOf(const LogisticSums& sums, std::size_t c) const {
    return sums.miss[static_cast<std::size_t>(label_of_cell_[c])];
  }

  LogisticRows Rows(std::span<const double> scores, std::size_t begin, std::size_t end) const {
    const double* weights = layout_.row_weights.empty() ? nullptr : layout_.row_weights.data();
    return {.scores = scores.data() + begin,
            .cells = layout_.cells->cell_of_row.data() + begin,
            .weights = weights == nullptr ? nullptr : weights + begin,
            .size = end - begin};
  }

  double AddLogistic(std::span<const double> scores, std::span<const double> coefficients,
                     std::span<double> gradient, std::span<double> hessian, bool want_value) const {
    const double scale = LogisticScale(layout_.surrogate);
    std::vector<LogisticCoefficients> by_cell(label_of_cell_.size());
    std::vector<double> own_errors(label_of_cell_.size());
    bool only_own_errors = true;
    for (std::size_t c = 0; c < by_cell.size(); ++c) {
      const double miss_0 = scale * coefficients[c * kSlots];
      const double miss_1 = scale * coefficients[c * kSlots + 1];
      const double loss = coefficients[c * kSlots + kLossSlot];
      const bool label_1 = label_of_cell_[c] == 1;
      by_cell[c] = {.a = miss_0 + miss_1 + loss,
                    .b = miss_1 + (label_1 ? loss : 0.0),
                    .h = std::max(0.0, miss_0) + std::max(0.0, miss_1) + std::max(0.0, loss)};
      own_errors[c] = by_cell[c].a;
      only_own_errors = only_own_errors && (label_1 ? miss_0 : miss_1) == 0.0 &&
                        by_cell[c].h == std::max(0.0, by_cell[c].a);
    }
    const auto label_0 = std::count(label_of_cell_.begin(), label_of_cell_.end(), 0);
    const LogisticTable table{.by_cell = by_cell.data(),
                              .own_errors = only_own_errors ? own_errors.data() : nullptr,
                              .first_of_label_1 = label_0};
    std::vector<double> partial(NumChunks(scores.size()), 0.0);
    ForEachChunk(scores.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
      const LogisticRows rows = Rows(scores, begin, end);
      double* bend = hessian.empty() ? nullptr : hessian.data() + begin;
      if (want_value) {
        partial[chunk] = AddLogisticLagrangian(rows, table, gradient.data() + begin, bend);
      } else {
        AddLogisticDerivatives(rows, table, gradient.data() + begin, bend);
      }
    });
    double total = 0.0;
    for (const double part : partial) total += part;
    return total;
  }

  void FillBoth(const double* scores, std::size_t n, MissBlock& block, MissBlock& loss) const {
    if (layout_.used[0] || layout_.used[1]) {
      FillMisses(layout_.surrogate, scores, n, block);
    } else {
      block = {};
    }
    if (uses_loss_) FillCrossEntropy(scores, n, 1.0, loss);
  }

  void AccumulateRows(std::span<const double> scores, std::size_t begin, std::size_t end,
                      std::vector<LogisticSums>& sums, std::vector<double>& loss_sums) const {
    MissBlock block;
    MissBlock loss;
    for (std::size_t first = begin; first < end; first += kBlock) {
      const std::size_t n = std::min(kBlock, end - first);
      FillBoth(scores.data() + first, n, block, loss);
      const std::uint32_t* cells = layout_.cells->cell_of_row.data() + first;
      for (std::size_t i = 0; i < n; ++i) {
        const double weight = layout_.weight(first + i);
        LogisticSums& cell = sums[cells[i]];
        cell.miss[0] += weight * block.value[0][i];
        cell.miss[1] += weight * block.value[1][i];
        const double score = scores[first + i];
        // A NaN score selects nothing: the counts become NaN, which never reads as satisfied.
        const double predicted_one = std::isnan(score) ? score : (score > 0.0 ? 1.0 : 0.0);
        cell.selected[0] += weight * (1.0 - predicted_one);
        cell.selected[1] += weight * predicted_one;
      }
      if (!uses_loss_) continue;
      for (std::size_t i = 0; i < n; ++i) {
        const auto label = static_cast<std::size_t>(label_of_cell_[cells[i]]);
        loss_sums[cells[i]] += layout_.weight(first + i) * loss.value[label][i];
      }
    }
  }

  double AddBlock(std::size_t first, std::size_t n, const MissBlock& block,
                  std::span<const double> coefficients, std::span<double> gradient,
                  std::span<double> hessian) const {
    const std::uint32_t* cells = layout_.cells->cell_of_row.data() + first;
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double* c = coefficients.data() + cells[i] * kSlots;
      const double weight = layout_.weight(first + i);
      total += weight * (c[0] * block.value[0][i] + c[1] * block.value[1][i]);
      gradient[first + i] += weight * (c[0] * block.slope[0][i] + c[1] * block.slope[1][i]);
    }
    if (hessian.empty()) return total;
    for (std::size_t i = 0; i < n; ++i) {
      const double* c = coefficients.data() + cells[i] * kSlots;
      hessian[first + i] +=
          layout_.weight(first + i) * (std::max(0.0, c[0] * block.curvature[0][i]) +
                                       std::max(0.0, c[1] * block.curvature[1][i]));
    }
    return total;
  }

  double AddLossBlock(std::size_t first, std::size_t n, const MissBlock& loss,
                      std::span<const double> coefficients, std::span<double> gradient,
                      std::span<double> hessian) const {
    const std::uint32_t* cells = layout_.cells->cell_of_row.data() + first;
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto label = static_cast<std::size_t>(label_of_cell_[cells[i]]);
      const double scale = layout_.weight(first + i) * coefficients[cells[i] * kSlots + kLossSlot];
      total += scale * loss.value[label][i];
      gradient[first + i] += scale * loss.slope[label][i];
      if (!hessian.empty()) hessian[first + i] += std::max(0.0, scale * loss.curvature[label][i]);
    }
    return total;
  }

  EventLayout layout_;
  bool uses_loss_;
  bool is_logistic_;
  std::vector<std::int32_t> label_of_cell_;
};

}  // namespace

std::unique_ptr<EventKernel> MakeBinaryKernel(EventLayout layout) {
  return std::make_unique<BinaryKernel>(std::move(layout));
}

}  // namespace bregboost::detail
