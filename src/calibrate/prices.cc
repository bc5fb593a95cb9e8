#include "bregboost/calibrate/prices.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "calibrate/detail/best_decision.h"
#include "calibrate/detail/bound_scores.h"
#include "calibrate/detail/boundary_slopes.h"

namespace bregboost {
namespace {

// Below it a price is what rounding left of 0.
constexpr double kSmallestPrice = 1e-9;

using detail::BoundarySlopes;
using detail::Charges;

// The quantity a + sum_j factor_j b_j.
Charges Combined(const Charges& a, const std::vector<Charges>& b, const Eigen::VectorXd& factors) {
  Charges sum = a;
  for (std::size_t j = 0; j < b.size(); ++j) {
    const double factor = factors[static_cast<Eigen::Index>(j)];
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * b[j][i];
  }
  return sum;
}

// argmin over x >= 0 of ||A x - b||^2, one coordinate at a time: a handful of unknowns.
Eigen::VectorXd NonNegativeLeastSquares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  const Eigen::MatrixXd gram = a.transpose() * a;
  const Eigen::VectorXd target = a.transpose() * b;
  Eigen::VectorXd x = Eigen::VectorXd::Zero(a.cols());
  constexpr int kMostRounds = 10'000;
  for (int round = 0; round < kMostRounds; ++round) {
    double change = 0.0;
    for (Eigen::Index j = 0; j < x.size(); ++j) {
      if (!(gram(j, j) > 0.0)) continue;
      const double before = x[j];
      x[j] = std::max(0.0, before + (target[j] - gram.row(j).dot(x)) / gram(j, j));
      change = std::max(change, std::abs(x[j] - before));
    }
    if (change <= 1e-12 * (1.0 + x.cwiseAbs().maxCoeff())) break;
  }
  return x;
}

// At the best decision no move of an offset helps: on every axis k
//   mean change of the cost + sum_j price_j * mean change of constraint j's excess = 0.
class KktSystem {
 public:
  KktSystem(const std::vector<BoundarySlopes>& axes, const Charges& cost,
            const std::vector<Charges>& binding)
      : axes_(axes), cost_(cost), binding_(binding) {}

  // Twice: the first prices tell how noisy each axis is, the second weigh it accordingly.
  void Solve() {
    prices_ = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(binding_.size()));
    for (int pass = 0; pass < 2; ++pass) {
      const auto num_axes = static_cast<Eigen::Index>(axes_.size());
      system_.resize(num_axes, prices_.size());
      Eigen::VectorXd target(num_axes);
      const Charges residual = Combined(cost_, binding_, prices_);
      for (Eigen::Index k = 0; k < num_axes; ++k) {
        const BoundarySlopes& axis = axes_[static_cast<std::size_t>(k)];
        const double variance = axis.Variance(residual);
        const double scale = variance > 0.0 ? 1.0 / std::sqrt(variance) : 0.0;
        target[k] = -scale * axis.Mean(cost_);
        for (Eigen::Index j = 0; j < prices_.size(); ++j) {
          system_(k, j) = scale * axis.Mean(binding_[static_cast<std::size_t>(j)]);
        }
      }
      prices_ = NonNegativeLeastSquares(system_, target);
    }
  }

  const Eigen::VectorXd& prices() const { return prices_; }

  // Of least squares whose rows have variance 1. With K > 2 axes every boundary row is seen from
  // both of its sides, so that there is half as much to go by.
  double StandardError(Eigen::Index j) const {
    const double seen = axes_.size() > 1 ? 2.0 : 1.0;
    const Eigen::MatrixXd gram = system_.transpose() * system_;
    const Eigen::MatrixXd inverse = gram.completeOrthogonalDecomposition().pseudoInverse();
    return std::sqrt(std::max(seen * inverse(j, j), 0.0));
  }

 private:
  const std::vector<BoundarySlopes>& axes_;
  const Charges& cost_;
  const std::vector<Charges>& binding_;
  Eigen::MatrixXd system_;
  Eigen::VectorXd prices_;
};

std::vector<BoundarySlopes> SlopesOf(const RateProblem& problem, const detail::BoundScores& bound,
                                     const ModelAdjustment& adjustment) {
  const auto n = static_cast<double>(problem.rows().num_rows());
  const auto count = static_cast<std::size_t>(std::max(200.0, std::pow(n, 0.8)));
  std::vector<BoundarySlopes> axes;
  for (std::size_t k = 0; k < adjustment.offsets.size(); ++k) {
    axes.emplace_back(problem, bound, adjustment.temperature, adjustment.offsets, k, count);
  }
  return axes;
}

// The largest mean change that one row makes, over the axes.
double ChangePerRow(const std::vector<BoundarySlopes>& axes, const Charges& charges) {
  double largest = 0.0;
  for (const BoundarySlopes& axis : axes) largest = std::max(largest, std::abs(axis.Mean(charges)));
  return largest;
}

}  // namespace

std::vector<Price> FindPrices(const Calibrator& calibrator, const RateProblem& problem,
                              const Calibration& decision) {
  std::vector<Price> prices;
  const std::vector<double>& sums = decision.sums;
  const std::vector<BoundarySlopes> axes =
      SlopesOf(problem, calibrator.bound_scores(), decision.adjustment);
  const std::size_t classes = problem.rows().labels.levels.size();
  const auto charges_of = [&](const CompiledConstraint& constraint, double sign) {
    std::vector<double> gradient = detail::ValueGradient(constraint, sums);
    for (double& slope : gradient) slope *= sign;
    return detail::ChargesOf(problem.compiled(), classes, gradient);
  };
  Charges cost =
      charges_of(problem.compiled().constraints.back(), problem.objective().maximise ? -1.0 : 1.0);

  const double near_rows =
      std::max(20.0, std::sqrt(static_cast<double>(problem.rows().num_rows())));
  std::vector<Charges> binding;
  std::vector<std::size_t> constraint_of;
  for (std::size_t c = 0; c < problem.num_constraints(); ++c) {
    const CompiledConstraint& constraint = problem.compiled().constraints[c];
    const Measurement& measured = decision.measurements[c];
    prices.push_back({.text = measured.text});
    if (std::isnan(measured.value)) continue;
    const double sign = constraint.source.relation == Relation::kAtMost ? 1.0 : -1.0;
    const double excess = sign * (measured.value - constraint.source.bound);
    Charges charges = charges_of(constraint, sign);
    const double reach = near_rows * ChangePerRow(axes, charges);
    if (reach == 0.0 || excess < -reach) continue;
    prices[c].binding = true;
    if (!measured.satisfied) {
      Eigen::VectorXd rho(1);
      rho[0] = prices[c].price = decision.rho;
      cost = Combined(cost, {charges}, rho);
      continue;
    }
    constraint_of.push_back(c);
    binding.push_back(std::move(charges));
  }
  if (binding.empty()) return prices;
  KktSystem system(axes, cost, binding);
  system.Solve();
  for (std::size_t j = 0; j < constraint_of.size(); ++j) {
    Price& price = prices[constraint_of[j]];
    const double found = system.prices()[static_cast<Eigen::Index>(j)];
    price.price = found > kSmallestPrice ? found : 0.0;
    price.standard_error = system.StandardError(static_cast<Eigen::Index>(j));
  }
  return prices;
}

}  // namespace bregboost
