#include "learners/detail/fused_derivatives.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "detail/parallel.h"
#include "learners/detail/binary_derivatives.h"
#include "learners/detail/softmax_pass.h"

namespace bregboost::detail {
namespace {

// The pulls in units of the derivatives.
struct ScaledPulls {
  explicit ScaledPulls(const FusedTarget& target) {
    double curvature = 0.0;
    for (const Pull& pull : target.pulls) {
      const double strength = target.factor * pull.weight / target.weights.metric_total;
      curvature += strength;
      if (pull.center.num_rows == 0 || strength == 0.0) continue;
      terms.push_back({.center = pull.center.data, .strength = strength});
    }
    view = {.terms = terms,
            .curvature = static_cast<float>(curvature),
            .metric_weights = target.weights.metric_weights()};
  }
  std::vector<PullTerm> terms;
  PullTerms view;
};

// Charges of rows, and the weights of the rows (null: all 1).
struct WeightedCharges {
  const CellCharges* charges;
  const float* weights;
};

std::vector<MissCoefficients> AsMisses(const CellCharges& charges) {
  std::vector<MissCoefficients> misses(charges.num_cells());
  for (std::size_t c = 0; c < misses.size(); ++c) {
    misses[c] = {.miss = {static_cast<float>(charges.charge[2 * c]),
                          static_cast<float>(charges.charge[2 * c + 1])},
                 .bend = static_cast<float>(charges.bend[c])};
  }
  return misses;
}

void DeriveBinary(const CellIds& cells, std::span<const WeightedCharges> parts,
                  const FusedTarget& target) {
  std::vector<std::vector<MissCoefficients>> misses;
  std::vector<MissTable> tables;
  for (const WeightedCharges& part : parts) {
    misses.push_back(AsMisses(*part.charges));
    tables.push_back({.num_cells = part.charges->num_cells(),
                      .by_cell = misses.back().data(),
                      .weights = part.weights});
  }
  const ScaledPulls pulls(target);
  const BinaryRows rows{.scores = target.scores.data, .cells = cells};
  ForEachChunk(target.scores.num_rows, [&](std::size_t, std::size_t begin, std::size_t end) {
    DeriveMisses(rows, tables, pulls.view, begin, end, target.gradient.data(),
                 target.hessian.data());
  });
}

// A cell's charges class by class, as the softmax pass reads them.
struct SoftmaxCharges {
  SoftmaxCharges(const CellCharges& from, double hessian_factor)
      : stride(std::max(from.num_cells(), kFewestTableEntries)),
        charges(from.num_classes * stride),
        totals(stride),
        bends(stride) {
    for (std::size_t c = 0; c < from.num_cells(); ++c) {
      const double* row = from.charge.data() + c * from.num_classes;
      totals[c] = static_cast<float>(std::accumulate(row, row + from.num_classes, 0.0));
      bends[c] = static_cast<float>(hessian_factor * from.bend[c]);
      for (std::size_t k = 0; k < from.num_classes; ++k) {
        charges[k * stride + c] = static_cast<float>(row[k]);
      }
    }
  }
  std::size_t stride;
  std::vector<float> charges, totals, bends;
};

void DeriveSoftmax(const CellIds& cells, std::span<const WeightedCharges> parts,
                   const FusedTarget& target) {
  std::vector<SoftmaxCharges> floats;
  std::vector<ChargeTable> tables;
  floats.reserve(parts.size());
  for (const WeightedCharges& part : parts) {
    const SoftmaxCharges& added = floats.emplace_back(*part.charges, target.softmax_hessian_factor);
    tables.push_back({.num_cells = part.charges->num_cells(),
                      .stride = added.stride,
                      .charges = added.charges.data(),
                      .totals = added.totals.data(),
                      .bends = added.bends.data(),
                      .weights = part.weights});
  }
  const ScaledPulls pulls(target);
  const SoftmaxRows rows{.scores = &target.scores, .cells = cells};
  ForEachChunk(target.scores.num_rows, [&](std::size_t, std::size_t begin, std::size_t end) {
    DeriveCharges(rows, tables, pulls.view, begin, end, target.gradient.data(),
                  target.hessian.data());
  });
}

void Derive(const CellIds& cells, std::span<const WeightedCharges> parts,
            const FusedTarget& target) {
  if (target.scores.num_scores == 1) {
    DeriveBinary(cells, parts, target);
  } else {
    DeriveSoftmax(cells, parts, target);
  }
}

}  // namespace

void FusedDerivatives(const CellIds& cells, CellCharges of_objective,
                      const CellCharges& of_constraints, const FusedTarget& target) {
  if (target.weights.alike) {
    of_objective.Add(of_constraints);
    const WeightedCharges all[] = {{&of_objective, target.weights.loss_weights()}};
    Derive(cells, all, target);
  } else {
    const WeightedCharges both[] = {{&of_objective, target.weights.loss_weights()},
                                    {&of_constraints, target.weights.rate_weights()}};
    Derive(cells, both, target);
  }
}

void FusedDerivatives(const CellIds& cells, const CellCharges& charges, const FusedTarget& target) {
  const WeightedCharges all[] = {{&charges, target.weights.rate_weights()}};
  Derive(cells, all, target);
}

}  // namespace bregboost::detail
