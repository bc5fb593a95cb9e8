#include "learners/detail/generic_pass.h"

#include <algorithm>
#include <cmath>

#include "detail/parallel.h"

namespace bregboost::detail {
namespace {

// body(row, index in the view, index in class-major order), in parallel.
template <class Body>
void ForEachElement(const ScoreView& scores, const Body& body) {
  const bool class_major = scores.layout == ScoreLayout::kClassMajor;
  const std::size_t row_stride = class_major ? 1 : scores.num_scores;
  const std::size_t class_stride = class_major ? scores.num_rows : 1;
  ForEachChunk(scores.num_rows, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t k = 0; k < scores.num_scores; ++k) {
      for (std::size_t i = begin; i < end; ++i) {
        body(i, i * row_stride + k * class_stride, k * scores.num_rows + i);
      }
    }
  });
}

}  // namespace

std::span<const double> GenericPass::AsDoubles(const ScoreView& scores) {
  const bool class_major = scores.layout == ScoreLayout::kClassMajor || scores.num_scores == 1;
  const auto* doubles = std::get_if<const double*>(&scores.data);
  if (class_major && doubles != nullptr) return {*doubles, scores.size()};
  scores_.resize(scores.size());
  std::visit(
      [&](const auto* data) {
        ForEachElement(scores, [&](std::size_t, std::size_t from, std::size_t to) {
          scores_[to] = static_cast<double>(data[from]);
        });
      },
      scores.data);
  return scores_;
}

LearnerValues GenericPass::Evaluate(const ConstraintSet& constraints, const ScoreView& scores) {
  const std::span<const double> doubles = AsDoubles(scores);
  return {.objective = objective_.Evaluate(doubles), .constraints = constraints.Evaluate(doubles)};
}

void GenericPass::Derive(const Lagrangian& lagrangian, double factor, const ScoreView& scores,
                         std::span<float> gradient, std::span<float> hessian) {
  const std::span<const double> doubles = AsDoubles(scores);
  gradient_.assign(scores.size(), 0.0);
  hessian_.assign(scores.size(), 0.0);
  objective_.AddDerivatives(doubles, lagrangian.objective_weight, gradient_, hessian_);
  if (lagrangian.constraints != nullptr) {
    lagrangian.constraints->AddDerivatives(doubles, lagrangian.multipliers, gradient_, hessian_);
  }
  Store(lagrangian.pulls, factor, scores, gradient, hessian);
}

void GenericPass::Derive(const CellCosts& costs, std::span<const Pull> pulls, double factor,
                         const ScoreView& scores, std::span<float> gradient,
                         std::span<float> hessian) {
  gradient_.assign(scores.size(), 0.0);
  hessian_.assign(scores.size(), 0.0);
  AddCosts(costs, AsDoubles(scores));
  Store(pulls, factor, scores, gradient, hessian);
}

void GenericPass::AddCosts(const CellCosts& costs, std::span<const double> scores) {
  const RowData& rows = objective_.rows();
  const std::size_t n = rows.num_rows();
  const std::size_t num_classes = rows.labels.levels.size();
  const bool binary = rows.num_scores() == 1;
  ForEachChunk(n, [&](std::size_t, std::size_t begin, std::size_t end) {
    std::vector<double> p(num_classes);
    for (std::size_t i = begin; i < end; ++i) {
      // Two classes are the softmax of (0, F).
      for (std::size_t k = 0; k < num_classes; ++k) {
        p[k] = !binary ? scores[k * n + i] : (k == 1 ? scores[i] : 0.0);
      }
      const double top = *std::max_element(p.begin(), p.end());
      double sum = 0.0;
      for (double& value : p) {
        value = std::exp(value - top);
        sum += value;
      }
      const double weight = rows.rate_weight(i) / weights_.rate_total;
      const double* charges = costs.costs.data() + costs.cells->cell_of_row[i] * num_classes;
      double total = 0.0;
      for (std::size_t k = 0; k < num_classes; ++k) total += weight * charges[k];
      for (std::size_t k = binary ? 1 : 0; k < num_classes; ++k) {
        const std::size_t at = binary ? i : k * n + i;
        const double share = p[k] / sum;
        gradient_[at] += total * share - weight * charges[k];
        hessian_[at] += (binary ? 1.0 : softmax_hessian_factor_) * total * share * (1.0 - share);
      }
    }
  });
}

void GenericPass::Store(std::span<const Pull> pulls, double factor, const ScoreView& scores,
                        std::span<float> gradient, std::span<float> hessian) const {
  const RowData& rows = objective_.rows();
  std::visit(
      [&](const auto* data) {
        using Pointer = decltype(data);
        ForEachElement(scores, [&](std::size_t row, std::size_t at, std::size_t from) {
          double slope = gradient_[from];
          double bend = hessian_[from];
          for (const Pull& pull : pulls) {
            const double strength = pull.weight * rows.metric_weight(row) / weights_.metric_total;
            bend += strength;
            if (pull.center.num_rows == 0) continue;
            const Pointer center = std::get<Pointer>(pull.center.data);
            slope += strength * (static_cast<double>(data[at]) - static_cast<double>(center[at]));
          }
          gradient[at] = static_cast<float>(factor * slope);
          hessian[at] = static_cast<float>(factor * bend);
        });
      },
      scores.data);
}

}  // namespace bregboost::detail
