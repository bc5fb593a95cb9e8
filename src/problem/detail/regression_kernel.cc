#include <algorithm>
#include <cmath>

#include "detail/parallel.h"
#include "problem/detail/event_kernel.h"
#include "problem/detail/margin_surrogate.h"

namespace bregboost::detail {
namespace {

EventTerm ResidualLoss(const LossOptions& options, double residual) {
  if (options.kind == LossKind::kSquared) {
    return {.value = residual * residual, .slope = 2.0 * residual, .curvature = 2.0};
  }
  const double delta = options.huber_delta;
  const double size = std::abs(residual);
  if (size > delta) {
    // The second derivative is 0 here, and Newton steps with it would have no end. With delta / |r|
    // the quadratic model touches the loss at r and -r and lies above it everywhere, so its minimum
    // never overshoots.
    return {.value = delta * (size - 0.5 * delta),
            .slope = std::copysign(delta, residual),
            .curvature = delta / size};
  }
  return {.value = 0.5 * residual * residual, .slope = residual, .curvature = 1.0};
}

// The only event of a numeric target is its loss, so there is one slot and the sums are by cell.
class RegressionKernel final : public EventKernel {
 public:
  explicit RegressionKernel(EventLayout layout) : layout_(std::move(layout)) {}

  EventSums Accumulate(std::span<const double> scores) const override {
    const std::vector<double> sums = AccumulateTangents(scores, scores);
    return {.exact = sums, .surrogate = sums};
  }

  std::vector<double> AccumulateExact(std::span<const double> scores) const override {
    return AccumulateTangents(scores, scores);
  }

  std::vector<double> AccumulateTangents(std::span<const double> at,
                                         std::span<const double> scores) const override {
    std::vector<std::vector<double>> partial(NumChunks(scores.size()));
    ForEachChunk(scores.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
      partial[chunk].resize(layout_.num_sums());
      for (std::size_t i = begin; i < end; ++i) {
        const EventTerm loss = ResidualLoss(layout_.loss, at[i] - layout_.targets[i]);
        partial[chunk][layout_.cells->cell_of_row[i]] +=
            layout_.weight(i) * (loss.value + loss.slope * (scores[i] - at[i]));
      }
    });
    std::vector<double> total(layout_.num_sums(), 0.0);
    AddInOrder(partial, total);
    return total;
  }

  double AddDerivatives(std::span<const double> scores, std::span<const double> coefficients,
                        std::span<double> gradient, std::span<double> hessian,
                        bool /*want_value*/) const override {
    std::vector<double> partial(NumChunks(scores.size()), 0.0);
    ForEachChunk(scores.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const EventTerm loss = ResidualLoss(layout_.loss, scores[i] - layout_.targets[i]);
        const double scale = layout_.weight(i) * coefficients[layout_.cells->cell_of_row[i]];
        partial[chunk] += scale * loss.value;
        gradient[i] += scale * loss.slope;
        if (!hessian.empty()) hessian[i] += std::max(0.0, scale * loss.curvature);
      }
    });
    double total = 0.0;
    for (const double part : partial) total += part;
    return total;
  }

 private:
  EventLayout layout_;
};

}  // namespace

std::unique_ptr<EventKernel> MakeRegressionKernel(EventLayout layout) {
  return std::make_unique<RegressionKernel>(std::move(layout));
}

}  // namespace bregboost::detail
