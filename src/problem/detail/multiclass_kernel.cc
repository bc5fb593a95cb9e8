#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "detail/parallel.h"
#include "problem/detail/event_kernel.h"
#include "problem/detail/margin_surrogate.h"
#include "problem/detail/vector_math.h"

namespace bregboost::detail {
namespace {

constexpr std::size_t kBlock = 256;
using PredictedBlock = std::array<double, kBlock>;  // codes; NaN: undefined

// Scores of a block of rows, row by row, with their softmax at temperature 1 and at the
// surrogate's.
struct SoftmaxBlock {
  std::vector<double> scores;       // [row * K + k]
  std::vector<double> probability;  // softmax(F)
  std::vector<double> tempered;     // softmax(F / T)
  std::vector<double> log_sum;      // log sum_k exp(F_k)
};

// One event of one row: value, gradient, and diagonals that bound the second derivative of the
// event and of its negative from above.
struct RowEvent {
  explicit RowEvent(std::size_t num_classes)
      : slope(num_classes), curvature(num_classes), negative_curvature(num_classes) {}
  double value = 0.0;
  std::vector<double> slope, curvature, negative_curvature;

  void Constant(double constant) {
    value = constant;
    std::fill(slope.begin(), slope.end(), 0.0);
    std::fill(curvature.begin(), curvature.end(), 0.0);
    std::fill(negative_curvature.begin(), negative_curvature.end(), 0.0);
  }
};

void Softmax(const std::vector<double>& scores, std::size_t n, std::size_t num_classes,
             double temperature, std::vector<double>& probability, double* log_sum) {
  for (std::size_t i = 0; i < n; ++i) {
    const double* row = scores.data() + i * num_classes;
    const double top = *std::max_element(row, row + num_classes);
    for (std::size_t k = 0; k < num_classes; ++k) {
      probability[i * num_classes + k] = (row[k] - top) / temperature;
    }
  }
  ExpArray(probability.data(), n * num_classes, probability.data());
  for (std::size_t i = 0; i < n; ++i) {
    double* row = probability.data() + i * num_classes;
    double total = 0.0;
    for (std::size_t k = 0; k < num_classes; ++k) total += row[k];
    for (std::size_t k = 0; k < num_classes; ++k) row[k] /= total;
    if (log_sum == nullptr) continue;
    const double* original = scores.data() + i * num_classes;
    log_sum[i] = std::log(total) + *std::max_element(original, original + num_classes);
  }
}

// -log p_t: gradient p - e_t; diag(p) - p p' is dominated by its Gershgorin bound 2 p (1 - p).
void CrossEntropy(const SoftmaxBlock& block, std::size_t i, std::size_t target, double scale,
                  RowEvent& event) {
  const std::size_t num_classes = event.slope.size();
  const double* p = block.probability.data() + i * num_classes;
  event.value = scale * (block.log_sum[i] - block.scores[i * num_classes + target]);
  for (std::size_t k = 0; k < num_classes; ++k) {
    event.slope[k] = scale * (p[k] - (k == target ? 1.0 : 0.0));
    event.curvature[k] = scale * 2.0 * p[k] * (1.0 - p[k]);
    event.negative_curvature[k] = 0.0;
  }
}

// sum over rivals j of phi(F_t - F_j); (e_t - e_j)(e_t - e_j)' <= 2 (e_t e_t' + e_j e_j').
template <class Surrogate>
void Margins(const SoftmaxBlock& block, std::size_t i, std::size_t target,
             const Surrogate& surrogate, RowEvent& event) {
  event.Constant(0.0);
  const std::size_t num_classes = event.slope.size();
  const double* scores = block.scores.data() + i * num_classes;
  for (std::size_t j = 0; j < num_classes; ++j) {
    if (j == target) continue;
    const EventTerm term = surrogate(scores[target] - scores[j]);
    event.value += term.value;
    event.slope[target] += term.slope;
    event.slope[j] -= term.slope;
    event.curvature[target] += 2.0 * term.curvature;
    event.curvature[j] += 2.0 * term.curvature;
  }
}

// q_t = softmax_t(F / T), or 1 - q_t. Its hessian is q_t (v v' - (diag(q) - q q')) / T^2 with
// v = e_t - q; v v' is bounded by its absolute row sums |v_k| * 2 (1 - q_t).
void Selected(const SoftmaxBlock& block, std::size_t i, std::size_t target, double temperature,
              bool missed, RowEvent& event) {
  const std::size_t num_classes = event.slope.size();
  const double* q = block.tempered.data() + i * num_classes;
  const double share = q[target];
  const double inverse_square = 1.0 / (temperature * temperature);
  event.value = missed ? 1.0 - share : share;
  for (std::size_t k = 0; k < num_classes; ++k) {
    const double v = (k == target ? 1.0 : 0.0) - q[k];
    event.slope[k] = (missed ? -1.0 : 1.0) * share * v / temperature;
    event.curvature[k] = share * std::abs(v) * 2.0 * (1.0 - share) * inverse_square;
    event.negative_curvature[k] = share * 2.0 * q[k] * (1.0 - q[k]) * inverse_square;
  }
  if (missed) std::swap(event.curvature, event.negative_curvature);
}

class MulticlassKernel final : public EventKernel {
 public:
  explicit MulticlassKernel(EventLayout layout)
      : layout_(std::move(layout)), selected_(layout_.num_classes, kNoSlot) {
    for (std::size_t s = 0; s < layout_.slots.size(); ++s) {
      PlaceSlot(s);
      if (!layout_.used[s]) continue;
      const SlotKind kind = layout_.slots[s].kind;
      const bool is_miss = kind == SlotKind::kMissLabel || kind == SlotKind::kMissBaseline;
      const SurrogateKind surrogate = layout_.surrogate.kind;
      if (kind == SlotKind::kSelected || (is_miss && surrogate == SurrogateKind::kSigmoid)) {
        needs_tempered_ = true;
      }
      if (kind == SlotKind::kLoss || (is_miss && (surrogate == SurrogateKind::kCrossEntropy ||
                                                  surrogate == SurrogateKind::kLogisticBase2))) {
        needs_probability_ = true;
      }
    }
  }

  EventSums Accumulate(std::span<const double> scores) const override {
    const std::size_t chunks = NumChunks(layout_.num_rows());
    std::vector<std::vector<double>> exact(chunks);
    std::vector<std::vector<double>> surrogate(chunks);
    ForEachRow(scores, [&](std::size_t chunk, std::size_t row, const SoftmaxBlock& block,
                           std::size_t i, RowEvent& event) {
      if (exact[chunk].empty()) {
        exact[chunk].resize(layout_.num_sums());
        surrogate[chunk].resize(layout_.num_sums());
      }
      const std::size_t cell = layout_.cells->cell_of_row[row];
      const std::int32_t predicted = Predicted(block.scores.data() + i * layout_.num_classes);
      for (std::size_t s = 0; s < layout_.slots.size(); ++s) {
        const std::size_t column = cell * layout_.slots.size() + s;
        if (layout_.used[s]) {
          Fill(s, cell, block, i, event);
          surrogate[chunk][column] += layout_.weight(row) * event.value;
        }
        exact[chunk][column] += layout_.weight(row) * Exact(s, cell, predicted, event.value);
      }
    });
    EventSums sums{.exact = std::vector<double>(layout_.num_sums(), 0.0),
                   .surrogate = std::vector<double>(layout_.num_sums(), 0.0)};
    AddInOrder(exact, sums.exact);
    AddInOrder(surrogate, sums.surrogate);
    return sums;
  }

  std::vector<double> AccumulateExact(std::span<const double> scores) const override {
    const bool uses_loss = loss_ != kNoSlot && layout_.used[loss_];
    std::vector<std::vector<double>> partial(NumChunks(layout_.num_rows()));
    ForEachChunk(layout_.num_rows(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
      partial[chunk].resize(layout_.num_sums());
      PredictedBlock predicted;
      SoftmaxBlock block = MakeBlock(uses_loss, /*with_tempered=*/false);
      for (std::size_t first = begin; first < end; first += kBlock) {
        const std::size_t n = std::min(kBlock, end - first);
        FirstLargestArray(scores.data() + first, layout_.num_rows(), layout_.num_classes, n,
                          predicted.data());
        AddEvents(first, n, predicted, partial[chunk]);
        if (uses_loss) AddLosses(scores, first, n, block, partial[chunk]);
      }
    });
    std::vector<double> exact(layout_.num_sums(), 0.0);
    AddInOrder(partial, exact);
    return exact;
  }

  std::vector<double> AccumulateTangents(std::span<const double> at,
                                         std::span<const double> scores) const override {
    std::vector<std::vector<double>> partial(NumChunks(layout_.num_rows()));
    ForEachRow(at, [&](std::size_t chunk, std::size_t row, const SoftmaxBlock& block, std::size_t i,
                       RowEvent& event) {
      if (partial[chunk].empty()) partial[chunk].resize(layout_.num_sums());
      const std::size_t cell = layout_.cells->cell_of_row[row];
      for (std::size_t s = 0; s < layout_.slots.size(); ++s) {
        if (!layout_.used[s]) continue;
        Fill(s, cell, block, i, event);
        double value = event.value;
        for (std::size_t k = 0; k < layout_.num_classes; ++k) {
          const std::size_t index = k * layout_.num_rows() + row;
          value += event.slope[k] * (scores[index] - at[index]);
        }
        partial[chunk][cell * layout_.slots.size() + s] += layout_.weight(row) * value;
      }
    });
    std::vector<double> total(layout_.num_sums(), 0.0);
    AddInOrder(partial, total);
    return total;
  }

  double AddDerivatives(std::span<const double> scores, std::span<const double> coefficients,
                        std::span<double> gradient, std::span<double> hessian,
                        bool /*want_value*/) const override {
    std::vector<double> partial(NumChunks(layout_.num_rows()), 0.0);
    ForEachRow(scores, [&](std::size_t chunk, std::size_t row, const SoftmaxBlock& block,
                           std::size_t i, RowEvent& event) {
      const std::size_t cell = layout_.cells->cell_of_row[row];
      for (std::size_t s = 0; s < layout_.slots.size(); ++s) {
        const double scale = layout_.weight(row) * coefficients[cell * layout_.slots.size() + s];
        if (!layout_.used[s] || scale == 0.0) continue;
        Fill(s, cell, block, i, event);
        partial[chunk] += scale * event.value;
        const std::vector<double>& bound = scale > 0.0 ? event.curvature : event.negative_curvature;
        for (std::size_t k = 0; k < layout_.num_classes; ++k) {
          const std::size_t index = k * layout_.num_rows() + row;
          gradient[index] += scale * event.slope[k];
          if (!hessian.empty()) hessian[index] += std::abs(scale) * bound[k];
        }
      }
    });
    double total = 0.0;
    for (const double part : partial) total += part;
    return total;
  }

 private:
  // body(chunk, row, block, row within the block, scratch)
  template <class Body>
  void ForEachRow(std::span<const double> scores, const Body& body) const {
    ForEachChunk(layout_.num_rows(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
      SoftmaxBlock block = MakeBlock(needs_probability_, needs_tempered_);
      RowEvent event(layout_.num_classes);
      for (std::size_t first = begin; first < end; first += kBlock) {
        const std::size_t n = std::min(kBlock, end - first);
        FillBlock(scores, first, n, block);
        for (std::size_t i = 0; i < n; ++i) body(chunk, first + i, block, i, event);
      }
    });
  }

  SoftmaxBlock MakeBlock(bool with_probability, bool with_tempered) const {
    const std::size_t width = kBlock * layout_.num_classes;
    return {.scores = std::vector<double>(width),
            .probability = std::vector<double>(with_probability ? width : 0),
            .tempered = std::vector<double>(with_tempered ? width : 0),
            .log_sum = std::vector<double>(kBlock)};
  }

  void FillBlock(std::span<const double> scores, std::size_t first, std::size_t n,
                 SoftmaxBlock& block) const {
    const std::size_t num_classes = layout_.num_classes;
    for (std::size_t k = 0; k < num_classes; ++k) {
      const double* column = scores.data() + k * layout_.num_rows() + first;
      for (std::size_t i = 0; i < n; ++i) block.scores[i * num_classes + k] = column[i];
    }
    if (!block.probability.empty()) {
      Softmax(block.scores, n, num_classes, 1.0, block.probability, block.log_sum.data());
    }
    if (!block.tempered.empty()) {
      Softmax(block.scores, n, num_classes, layout_.surrogate.temperature, block.tempered, nullptr);
    }
  }

  void AddEvents(std::size_t first, std::size_t n, const PredictedBlock& predicted,
                 std::vector<double>& exact) const {
    const std::size_t slots = layout_.slots.size();
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t cell = layout_.cells->cell_of_row[first + i];
      const Cell& tuple = layout_.cells->cells[cell];
      const double weight = layout_.weight(first + i);
      double* of_cell = exact.data() + cell * slots;
      if (std::isnan(predicted[i])) {
        for (std::size_t s = 0; s < slots; ++s) {
          if (s != loss_) of_cell[s] = std::numeric_limits<double>::quiet_NaN();
        }
        continue;
      }
      const auto code = static_cast<std::int32_t>(predicted[i]);
      // Sums of 0 cost less than branches that nobody can foretell.
      if (miss_label_ != kNoSlot) {
        of_cell[miss_label_] += code != tuple.label ? weight : 0.0;
      }
      if (miss_baseline_ != kNoSlot) {
        of_cell[miss_baseline_] += code != tuple.baseline ? weight : 0.0;
      }
      const std::size_t selected = selected_[static_cast<std::size_t>(code)];
      if (selected != kNoSlot) of_cell[selected] += weight;
    }
  }

  void AddLosses(std::span<const double> scores, std::size_t first, std::size_t n,
                 SoftmaxBlock& block, std::vector<double>& exact) const {
    FillBlock(scores, first, n, block);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t cell = layout_.cells->cell_of_row[first + i];
      const auto label = static_cast<std::size_t>(layout_.cells->cells[cell].label);
      exact[cell * layout_.slots.size() + loss_] +=
          layout_.weight(first + i) *
          (block.log_sum[i] - block.scores[i * layout_.num_classes + label]);
    }
  }

  void PlaceSlot(std::size_t s) {
    const Slot& slot = layout_.slots[s];
    switch (slot.kind) {
      case SlotKind::kMissLabel:
        miss_label_ = s;
        return;
      case SlotKind::kMissBaseline:
        miss_baseline_ = s;
        return;
      case SlotKind::kSelected:
        selected_[static_cast<std::size_t>(slot.class_code)] = s;
        return;
      case SlotKind::kLoss:
        loss_ = s;
        return;
      case SlotKind::kMissClass:
        break;  // binary only
    }
  }

  void Fill(std::size_t s, std::size_t cell, const SoftmaxBlock& block, std::size_t i,
            RowEvent& event) const {
    const Slot& slot = layout_.slots[s];
    const Cell& tuple = layout_.cells->cells[cell];
    switch (slot.kind) {
      case SlotKind::kLoss:
        CrossEntropy(block, i, static_cast<std::size_t>(tuple.label), 1.0, event);
        return;
      case SlotKind::kSelected:
        Selected(block, i, static_cast<std::size_t>(slot.class_code), layout_.surrogate.temperature,
                 /*missed=*/false, event);
        return;
      case SlotKind::kMissLabel:
        FillMiss(block, i, static_cast<std::size_t>(tuple.label), event);
        return;
      case SlotKind::kMissBaseline:
        FillMiss(block, i, static_cast<std::size_t>(tuple.baseline), event);
        return;
      case SlotKind::kMissClass:
        break;  // binary only
    }
  }

  void FillMiss(const SoftmaxBlock& block, std::size_t i, std::size_t target,
                RowEvent& event) const {
    const SurrogateOptions& options = layout_.surrogate;
    switch (options.kind) {
      case SurrogateKind::kCrossEntropy:
        CrossEntropy(block, i, target, 1.0, event);
        break;
      case SurrogateKind::kLogisticBase2:
        CrossEntropy(block, i, target, std::numbers::log2e, event);
        break;
      case SurrogateKind::kHingeSquared:
        Margins(block, i, target, HingeSquared, event);
        break;
      case SurrogateKind::kHuberisedHinge:
        Margins(block, i, target, HuberisedHinge, event);
        break;
      case SurrogateKind::kSigmoid:
        Selected(block, i, target, options.temperature, /*missed=*/true, event);
        break;
    }
    if (event.value > options.clip) event.Constant(options.clip);
  }

  // The first largest score wins, as in the stock libraries; -1 if a score is NaN.
  std::int32_t Predicted(const double* scores) const {
    std::size_t best = 0;
    for (std::size_t k = 0; k < layout_.num_classes; ++k) {
      if (std::isnan(scores[k])) return -1;
      if (scores[k] > scores[best]) best = k;
    }
    return static_cast<std::int32_t>(best);
  }

  double Exact(std::size_t s, std::size_t cell, std::int32_t predicted, double loss) const {
    const Slot& slot = layout_.slots[s];
    const Cell& tuple = layout_.cells->cells[cell];
    if (slot.kind == SlotKind::kLoss) return layout_.used[s] ? loss : 0.0;
    if (predicted < 0) return std::numeric_limits<double>::quiet_NaN();
    switch (slot.kind) {
      case SlotKind::kMissLabel:
        return predicted != tuple.label ? 1.0 : 0.0;
      case SlotKind::kMissBaseline:
        return predicted != tuple.baseline ? 1.0 : 0.0;
      case SlotKind::kSelected:
        return predicted == slot.class_code ? 1.0 : 0.0;
      case SlotKind::kMissClass:
      case SlotKind::kLoss:
        break;
    }
    return 0.0;
  }

  static constexpr std::size_t kNoSlot = std::numeric_limits<std::size_t>::max();

  EventLayout layout_;
  std::size_t miss_label_ = kNoSlot, miss_baseline_ = kNoSlot, loss_ = kNoSlot;
  std::vector<std::size_t> selected_;  // the slot of each class
  bool needs_probability_ = false;
  bool needs_tempered_ = false;
};

}  // namespace

std::unique_ptr<EventKernel> MakeMulticlassKernel(EventLayout layout) {
  return std::make_unique<MulticlassKernel>(std::move(layout));
}

}  // namespace bregboost::detail
