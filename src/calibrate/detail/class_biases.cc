#include "calibrate/detail/class_biases.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "detail/parallel.h"

namespace bregboost::detail {
namespace {

// Added to the loss: this share of all weight, times half the squares of the biases.
constexpr double kShrinkage = 1e-5;

struct Loss {
  explicit Loss(Eigen::Index classes)
      : gradient(Eigen::VectorXd::Zero(classes)),
        curvature(Eigen::MatrixXd::Zero(classes, classes)) {}

  double value = 0.0;
  double weight = 0.0;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd curvature;  // its lower triangle
};

class BiasLoss {
 public:
  BiasLoss(std::span<const double> scores, const RowData& rows, double temperature)
      : scores_(scores), rows_(rows), temperature_(temperature) {}

  Loss At(const Eigen::VectorXd& biases) const {
    std::vector<Loss> partial(NumChunks(rows_.num_rows()), Loss(biases.size()));
    ForEachChunk(rows_.num_rows(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
      Eigen::VectorXd p(biases.size());
      for (std::size_t i = begin; i < end; ++i) AddRow(i, biases, p, partial[chunk]);
    });
    Loss total(biases.size());
    for (const Loss& part : partial) {
      total.value += part.value;
      total.weight += part.weight;
      total.gradient += part.gradient;
      total.curvature += part.curvature;
    }
    const double shrinkage = kShrinkage * total.weight;
    total.value += 0.5 * shrinkage * biases.squaredNorm();
    total.gradient += shrinkage * biases;
    total.curvature.diagonal().array() += shrinkage;
    return total;
  }

 private:
  void AddRow(std::size_t i, const Eigen::VectorXd& biases, Eigen::VectorXd& p, Loss& total) const {
    const double weight = rows_.rate_weight(i);
    if (weight <= 0.0) return;
    const std::size_t n = rows_.num_rows();
    for (Eigen::Index k = 0; k < p.size(); ++k) {
      p[k] = scores_[static_cast<std::size_t>(k) * n + i] / temperature_ + biases[k];
    }
    const auto label = static_cast<Eigen::Index>(rows_.labels.codes[i]);
    const double top = p.maxCoeff();
    const double below_top = p[label] - top;
    p = (p.array() - top).exp();
    const double sum = p.sum();
    p /= sum;
    total.value += weight * (std::log(sum) - below_top);
    total.weight += weight;
    total.gradient += weight * p;
    total.gradient[label] -= weight;
    total.curvature.diagonal() += weight * p;
    total.curvature.selfadjointView<Eigen::Lower>().rankUpdate(p, -weight);
  }

  std::span<const double> scores_;
  const RowData& rows_;
  double temperature_;
};

}  // namespace

// Newton's method on the convex loss; a step that raises it is halved until it does not.
std::vector<double> FitClassBiases(std::span<const double> scores, const RowData& rows,
                                   double temperature) {
  constexpr int kMostSteps = 50;
  constexpr double kSmallestMove = 1e-9;
  const BiasLoss loss(scores, rows, temperature);
  Eigen::VectorXd biases = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(rows.num_scores()));
  Loss at = loss.At(biases);
  for (int step = 0; step < kMostSteps; ++step) {
    Eigen::VectorXd move = -at.curvature.selfadjointView<Eigen::Lower>().ldlt().solve(at.gradient);
    if (!move.allFinite()) break;  // no weight at all
    Loss next = loss.At(biases + move);
    while (next.value > at.value && move.cwiseAbs().maxCoeff() > kSmallestMove) {
      move *= 0.5;
      next = loss.At(biases + move);
    }
    if (move.cwiseAbs().maxCoeff() <= kSmallestMove) break;
    biases += move;
    at = std::move(next);
  }
  biases.array() -= biases.mean();
  return {biases.begin(), biases.end()};
}

}  // namespace bregboost::detail
