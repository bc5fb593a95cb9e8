#include "bregboost/learners/linear.h"

#include <LBFGS.h>
#include <LBFGSB.h>
#include <LBFGSpp/BFGSMat.h>
#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "detail/option_checks.h"

namespace bregboost {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Index Signed(std::size_t value) { return static_cast<Index>(value); }

void CheckBox(const char* field, const std::vector<double>& bounds, std::size_t features,
              double excluded) {
  if (bounds.size() != features) {
    throw std::invalid_argument(
        fmt::format("{}: {} values; allowed: none, or one for each of the {} features", field,
                    bounds.size(), features));
  }
  for (std::size_t j = 0; j < features; ++j) {
    if (!std::isnan(bounds[j]) && bounds[j] != excluded) continue;
    throw std::invalid_argument(fmt::format(
        "{}: {} for feature {}; allowed: a number that leaves room", field, bounds[j], j));
  }
}

void Check(const LinearOptions& options, std::size_t features) {
  detail::RequireNonNegative("l2", options.l2);
  detail::RequireAtLeast("memory", options.memory, 1);
  detail::RequireAtLeast("max_iterations", options.max_iterations, 1);
  const bool lower = !options.coefficient_lower.empty();
  const bool upper = !options.coefficient_upper.empty();
  if (lower) CheckBox("coefficient_lower", options.coefficient_lower, features, kInfinity);
  if (upper) CheckBox("coefficient_upper", options.coefficient_upper, features, -kInfinity);
  for (std::size_t j = 0; lower && upper && j < features; ++j) {
    if (options.coefficient_lower[j] <= options.coefficient_upper[j]) continue;
    throw std::invalid_argument(
        fmt::format("coefficient_lower: {} for feature {}; allowed: at most coefficient_upper, {}",
                    options.coefficient_lower[j], j, options.coefficient_upper[j]));
  }
}

// The bound of every entry of x: features repeat for each score, intercepts are free.
VectorXd BoxSide(const std::vector<double>& bounds, std::size_t features, std::size_t scores,
                 bool intercept, double none) {
  VectorXd side = VectorXd::Constant(Signed((features + (intercept ? 1 : 0)) * scores), none);
  for (std::size_t k = 0; k < scores && !bounds.empty(); ++k) {
    side.segment(Signed(k * features), Signed(features)) =
        Eigen::Map<const VectorXd>(bounds.data(), Signed(features));
  }
  return side;
}

// Of [X 1]' diag(weights) [X 1], or its trace, which is no smaller, where the matrix is too large.
double LargestEigenvalue(const FeatureMatrix& features, std::span<const double> weights,
                         bool with_intercept) {
  constexpr std::size_t kMostColumns = 2000;
  if (features.columns() > kMostColumns) {
    const double ones = std::accumulate(weights.begin(), weights.end(), 0.0);
    return features.WeightedSquaredNorm(weights) + (with_intercept ? ones : 0.0);
  }
  const MatrixXd gram = features.WeightedGram(weights, with_intercept);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> spectrum(gram, Eigen::EigenvaluesOnly);
  return spectrum.eigenvalues().maxCoeff();
}

struct LinearState final : ModelState {
  explicit LinearState(VectorXd model) : x(std::move(model)) {}
  VectorXd x;
};

}  // namespace

// psi and its gradient, as L-BFGS wants them.
class LinearLearner::Subproblem {
 public:
  Subproblem(const LinearLearner& learner, const ProximalStep& step)
      : learner_(learner),
        step_(step),
        center_(learner.x_),
        scores_(learner.scores_.size()),
        score_gradient_(learner.scores_.size()) {}

  double operator()(const VectorXd& x, VectorXd& gradient) {
    ++evaluations_;
    learner_.ScoresOf(x, scores_);
    std::fill(score_gradient_.begin(), score_gradient_.end(), 0.0);
    double value = 0.0;
    if (step_.objective_weight != 0.0) {
      value += learner_.objective_->AddDerivatives(scores_, step_.objective_weight, score_gradient_,
                                                   {}) +
               step_.objective_weight * learner_.Penalty(x);
    }
    if (step_.constraints != nullptr) {
      value += step_.constraints->AddLagrangian(scores_, step_.multipliers, score_gradient_, {});
    }
    gradient = (x - center_) / step_.tau;
    value += 0.5 * step_.tau * gradient.squaredNorm();
    if (step_.anchor_weight > 0.0) {
      const VectorXd away = x - learner_.anchor_;
      value += 0.5 * step_.anchor_weight * away.squaredNorm();
      gradient += step_.anchor_weight * away;
    }
    learner_.AddModelGradient(score_gradient_, x, step_.objective_weight, gradient);
    if (value < best_value_) {
      best_value_ = value;
      best_ = x;
    }
    return value;
  }

  const VectorXd& best() const { return best_; }

  double Residual(const VectorXd& x) {
    VectorXd gradient;
    (*this)(x, gradient);
    return learner_.SmallestSubgradient(x, gradient).norm();
  }

  // Line searches compare values of psi, which double precision resolves to a residual of about
  // 1e-8 at best. From there quasi-Newton steps that are judged by the residual alone go on: near
  // the minimum of a strongly convex function that is safe. Returns the residual reached.
  double Polish(double tolerance, int memory, VectorXd& x) {
    LBFGSpp::BFGSMat<double> inverse_hessian;
    inverse_hessian.reset(static_cast<int>(x.size()), memory);
    VectorXd gradient, next_gradient, direction;
    (*this)(x, gradient);
    constexpr int kMostSteps = 60;
    constexpr int kMostHalvings = 12;
    for (int step = 0; step < kMostSteps && gradient.norm() > tolerance; ++step) {
      inverse_hessian.apply_Hv(gradient, -1.0, direction);
      int halvings = 0;
      for (; halvings < kMostHalvings; ++halvings, direction *= 0.5) {
        (*this)(x + direction, next_gradient);
        if (next_gradient.norm() < gradient.norm()) break;
      }
      if (halvings == kMostHalvings) break;
      const VectorXd change = next_gradient - gradient;
      if (change.dot(direction) > 0.0) inverse_hessian.add_correction(direction, change);
      x += direction;
      gradient = next_gradient;
    }
    return gradient.norm();
  }

  double modulus() const { return step_.modulus.value_or(1.0 / step_.tau + step_.anchor_weight); }
  std::int64_t evaluations() const { return evaluations_; }

 private:
  const LinearLearner& learner_;
  const ProximalStep& step_;
  const VectorXd& center_;  // x_k; the learner moves only after the step
  std::vector<double> scores_;
  std::vector<double> score_gradient_;
  std::int64_t evaluations_ = 0;
  VectorXd best_;
  double best_value_ = std::numeric_limits<double>::infinity();
};

LinearLearner::LinearLearner(const FeatureMatrix& features, const Objective& objective,
                             const LinearOptions& options)
    : features_(features),
      objective_(&objective),
      options_(options),
      num_scores_(objective.rows().num_scores()) {
  const RowData& rows = objective.rows();
  if (features.rows() != rows.num_rows()) {
    throw std::invalid_argument(fmt::format("features: {} rows; allowed: as many as labels, {}",
                                            features.rows(), rows.num_rows()));
  }
  const std::size_t d = features.columns();
  Check(options, d);
  if (d == 0 && !options.fit_intercept) {
    throw std::invalid_argument("features: 0 columns without an intercept; allowed: at least 1");
  }
  if (!options.coefficient_lower.empty() || !options.coefficient_upper.empty()) {
    lower_ = BoxSide(options.coefficient_lower, d, num_scores_, options.fit_intercept, -kInfinity);
    upper_ = BoxSide(options.coefficient_upper, d, num_scores_, options.fit_intercept, kInfinity);
  }
  x_ = VectorXd::Zero(Signed((d + (options.fit_intercept ? 1 : 0)) * num_scores_));
  if (has_box()) x_ = x_.cwiseMax(lower_).cwiseMin(upper_);
  scores_.resize(rows.num_rows() * num_scores_);
  MoveTo(x_);
  anchor_ = x_;
  ResetAverage();

  std::vector<double> metric(rows.num_rows());
  double total = 0.0;
  for (std::size_t i = 0; i < metric.size(); ++i) total += metric[i] = rows.metric_weight(i);
  score_sensitivity_ = LargestEigenvalue(features, metric, options.fit_intercept) / total;
  // The curvature of a cross-entropy vanishes far out, so only the penalty counts, and it leaves
  // the intercept free.
  strong_convexity_ = options.fit_intercept ? 0.0 : options.l2;
}

MatrixXd LinearLearner::coefficients() const {
  return Eigen::Map<const MatrixXd>(x_.data(), Signed(features_.columns()), Signed(num_scores_));
}

VectorXd LinearLearner::intercept() const {
  if (!options_.fit_intercept) return VectorXd::Zero(Signed(num_scores_));
  return x_.tail(Signed(num_scores_));
}

void LinearLearner::SetModel(const Eigen::Ref<const MatrixXd>& coefficients,
                             const Eigen::Ref<const VectorXd>& intercept) {
  const Index d = Signed(features_.columns());
  const Index k = Signed(num_scores_);
  if (coefficients.rows() != d || coefficients.cols() != k || intercept.size() != k) {
    throw std::invalid_argument(
        fmt::format("model: {} x {} coefficients and {} intercepts; allowed: {} x {} and {}",
                    coefficients.rows(), coefficients.cols(), intercept.size(), d, k, k));
  }
  VectorXd x(x_.size());
  x.head(d * k) = coefficients.reshaped();
  if (options_.fit_intercept) x.tail(k) = intercept;
  if (has_box()) x = x.cwiseMax(lower_).cwiseMin(upper_);
  MoveTo(x);
}

void LinearLearner::MoveTo(const VectorXd& x) {
  x_ = x;
  ScoresOf(x_, scores_);
}

void LinearLearner::ScoresOf(const VectorXd& x, std::span<double> scores) const {
  const Index d = Signed(features_.columns());
  const Index k = Signed(num_scores_);
  const Eigen::Map<const MatrixXd> coefficients(x.data(), d, k);
  const VectorXd intercept = options_.fit_intercept ? VectorXd(x.tail(k)) : VectorXd::Zero(k);
  features_.Multiply(coefficients, intercept, scores);
}

double LinearLearner::Penalty(const VectorXd& x) const {
  return 0.5 * options_.l2 * x.head(Signed(features_.columns() * num_scores_)).squaredNorm();
}

double LinearLearner::objective() const { return objective_->Evaluate(scores_) + Penalty(x_); }

void LinearLearner::AddModelGradient(std::span<const double> score_gradient, const VectorXd& x,
                                     double objective_weight, VectorXd& gradient) const {
  const Index size = Signed(features_.columns() * num_scores_);
  gradient.head(size) += features_.TransposedMultiply(score_gradient).reshaped() +
                         objective_weight * options_.l2 * x.head(size);
  if (!options_.fit_intercept) return;
  const Eigen::Map<const MatrixXd> by_score(score_gradient.data(), Signed(features_.rows()),
                                            Signed(num_scores_));
  gradient.tail(Signed(num_scores_)) += by_score.colwise().sum().transpose();
}

// The smallest element of gradient + normal cone of the box: at a bound, the part that points out
// of the box is absorbed.
VectorXd LinearLearner::SmallestSubgradient(const VectorXd& x, const VectorXd& gradient) const {
  VectorXd v = gradient;
  for (Index i = 0; has_box() && i < v.size(); ++i) {
    if (x[i] <= lower_[i]) v[i] = std::min(v[i], 0.0);
    if (x[i] >= upper_[i]) v[i] = std::max(v[i], 0.0);
  }
  return v;
}

StepOutcome LinearLearner::Step(const ProximalStep& step) {
  Subproblem psi(*this, step);
  VectorXd x = x_;
  double value = 0.0;
  const bool convex = psi.modulus() > 0.0;
  const double scale = convex ? psi.modulus() : 1.0 / step.tau;
  double tolerance = std::sqrt(2.0 * scale * step.accuracy.nu);  // on ||v||
  double residual = 0.0;
  double suboptimality = 0.0;
  // Line searches that find no descent throw: the best point is then as good as values of psi can
  // tell, and the residual below says how good that is. Other errors come before any point is
  // known.
  const auto recover = [&] {
    if (psi.best().size() == 0) throw;
    x = psi.best();
  };
  // L-BFGS-B measures its residual in another norm, so a stop of its own may fall short: tighten.
  constexpr int kAttempts = 4;
  for (int attempt = 0; attempt < kAttempts; ++attempt, tolerance *= 0.1) {
    try {
      if (has_box()) {
        LBFGSpp::LBFGSBParam<double> parameters;
        parameters.m = options_.memory;
        parameters.epsilon = tolerance / std::sqrt(static_cast<double>(x.size()));
        parameters.epsilon_rel = 0.0;
        parameters.max_iterations = options_.max_iterations;
        LBFGSpp::LBFGSBSolver<double>(parameters).minimize(psi, x, value, lower_, upper_);
      } else {
        LBFGSpp::LBFGSParam<double> parameters;
        parameters.m = options_.memory;
        parameters.epsilon = tolerance;
        parameters.epsilon_rel = 0.0;
        parameters.max_iterations = options_.max_iterations;
        LBFGSpp::LBFGSSolver<double>(parameters).minimize(psi, x, value);
      }
    } catch (const std::runtime_error&) {
      recover();
    } catch (const std::logic_error&) {
      recover();
    }
    residual = has_box() || !convex ? psi.Residual(x) : psi.Polish(tolerance, options_.memory, x);
    suboptimality = convex ? residual * residual / (2.0 * psi.modulus())
                           : std::numeric_limits<double>::quiet_NaN();
    if (!(residual > tolerance)) break;
  }
  const double distance = 0.5 * (x - x_).squaredNorm();
  MoveTo(x);
  return {.distance = distance,
          .suboptimality = suboptimality,
          .residual = residual,
          .evaluations = psi.evaluations()};
}

void LinearLearner::AccumulateAverage(double weight) {
  average_weight_ += weight;
  average_ += (weight / average_weight_) * (x_ - average_);
}

void LinearLearner::ResetAverage() {
  average_ = VectorXd::Zero(x_.size());
  average_weight_ = 0.0;
}

void LinearLearner::UseAverage() {
  if (average_weight_ > 0.0) MoveTo(average_);
}

std::unique_ptr<ModelState> LinearLearner::Save() const {
  return std::make_unique<LinearState>(x_);
}

void LinearLearner::Restore(const ModelState& state) {
  MoveTo(dynamic_cast<const LinearState&>(state).x);
}

double LinearLearner::StationarityResidual(const ConstraintSet& constraints,
                                           std::span<const double> multipliers,
                                           double objective_weight) const {
  std::vector<double> score_gradient(scores_.size(), 0.0);
  objective_->AddDerivatives(scores_, objective_weight, score_gradient, {});
  constraints.AddLagrangian(scores_, multipliers, score_gradient, {});
  VectorXd gradient = VectorXd::Zero(x_.size());
  AddModelGradient(score_gradient, x_, objective_weight, gradient);
  return SmallestSubgradient(x_, gradient).norm();
}

}  // namespace bregboost
