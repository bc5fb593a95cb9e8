#include "bregboost/problem/rate_constraints.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "problem/detail/event_kernel.h"
#include "problem/detail/input_checks.h"

namespace bregboost {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
using RowMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

Eigen::Map<const Vector> AsVector(std::span<const double> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

std::span<const double> AsSpan(const Vector& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

// A x and A' y by plain loops: these are a few microseconds of work, for which Eigen would wake up
// every thread.
Vector Times(const RowMatrix& a, std::span<const double> x) {
  Vector result(a.rows());
  for (Eigen::Index j = 0; j < a.rows(); ++j) {
    double total = 0.0;
    for (RowMatrix::InnerIterator entry(a, j); entry; ++entry) {
      total += entry.value() * x[static_cast<std::size_t>(entry.col())];
    }
    result[j] = total;
  }
  return result;
}

Vector TransposedTimes(const RowMatrix& a, std::span<const double> y) {
  Vector result = Vector::Zero(a.cols());
  for (Eigen::Index j = 0; j < a.rows(); ++j) {
    const double factor = y[static_cast<std::size_t>(j)];
    if (factor == 0.0) continue;  // most multipliers are
    for (RowMatrix::InnerIterator entry(a, j); entry; ++entry) {
      result[entry.col()] += factor * entry.value();
    }
  }
  return result;
}

std::vector<double> MinusBounds(const Vector& rates, std::span<const double> bounds) {
  std::vector<double> g(bounds.size());
  for (std::size_t j = 0; j < g.size(); ++j) g[j] = rates[static_cast<Eigen::Index>(j)] - bounds[j];
  return g;
}

// Adds what every constraint measures and the largest violation, and marks the rows of undefined
// constraints: in the multiplied-out form nothing selected would read as satisfied.
void AddMeasured(const CompiledConstraints& compiled, std::span<const double> exact_sums,
                 ConstraintValues& values) {
  for (const CompiledConstraint& constraint : compiled.constraints) {
    const double value = Value(constraint, exact_sums);
    values.measured.push_back(value);
    const double violation = Violation(constraint.source, value);
    values.worst_exact_violation = std::max(values.worst_exact_violation, violation);
    if (std::isfinite(violation)) continue;
    for (std::size_t j = 0; j < constraint.num_rows; ++j) {
      values.exact[constraint.first_row + j] = std::numeric_limits<double>::quiet_NaN();
    }
  }
}

// The surrogate of a miss where all classes have the same score.
double MissAtZero(const SurrogateOptions& options, std::size_t num_classes) {
  const auto k = static_cast<double>(num_classes);
  switch (options.kind) {
    case SurrogateKind::kCrossEntropy:
      return std::log(k);
    case SurrogateKind::kLogisticBase2:
      return std::log2(k);
    case SurrogateKind::kHingeSquared:
    case SurrogateKind::kHuberisedHinge:
      return k - 1.0;
    case SurrogateKind::kSigmoid:
      return 1.0 - 1.0 / k;
  }
  return kInfinity;
}

// -log(1 - e) in the surrogate's unit: the loss of predicting the class with probability 1 - e.
double NegativeLogBound(const SurrogateOptions& options, double error) {
  const double nats = -std::log1p(-std::min(error, 1.0 - 1e-12));
  return options.kind == SurrogateKind::kLogisticBase2 ? nats * std::numbers::log2e : nats;
}

// What a row of A makes of an event that always happens: the coefficient of its rate.
Vector RateCoefficients(const CompiledConstraints& compiled) {
  const std::size_t num_slots = compiled.slots.size();
  Vector weights(static_cast<Eigen::Index>(compiled.num_sums()));
  for (std::size_t j = 0; j < compiled.num_sums(); ++j) {
    weights[static_cast<Eigen::Index>(j)] = compiled.cells.cells[j / num_slots].rate_weight;
  }
  return compiled.matrix * weights;
}

// The mean of each slot's event over all rows.
std::vector<double> MeansOfSlots(const CompiledConstraints& compiled,
                                 std::span<const double> sums) {
  const std::size_t num_slots = compiled.slots.size();
  std::vector<double> means(num_slots, 0.0);
  double weight = 0.0;
  for (const Cell& cell : compiled.cells.cells) weight += cell.rate_weight;
  for (std::size_t j = 0; j < sums.size(); ++j) means[j % num_slots] += sums[j] / weight;
  return means;
}

// An upper bound on the spectral radius of T = B'B, B >= 0: the Collatz-Wielandt quotient
// max_i (T v)_i / v_i, which holds for every positive v and tightens as v nears the eigenvector.
double SpectralBound(const RowMatrix& b) {
  Vector v = Vector::Ones(b.cols());
  double bound = kInfinity;
  for (int iteration = 0; iteration < 60; ++iteration) {
    const Vector next = b.transpose() * (b * v);
    double quotient = 0.0;
    for (Eigen::Index i = 0; i < v.size(); ++i) {
      if (v[i] > 0.0) quotient = std::max(quotient, next[i] / v[i]);
    }
    bound = std::min(bound, quotient);
    if (quotient == 0.0) break;
    v = next / next.maxCoeff();
  }
  return bound;
}

}  // namespace

// g_j <= A+ S(F) - A- (tangent of S at the anchor) - b: convex, and equal at the anchor.
class RateConstraints::Majorizer final : public ConstraintSet {
 public:
  Majorizer(const RateConstraints& parent, std::span<const double> scores)
      : parent_(parent),
        anchor_(scores.begin(), scores.end()),
        positive_(parent.compiled_->matrix.cwiseMax(
            RowMatrix(parent.compiled_->matrix.rows(), parent.compiled_->matrix.cols()))),
        negative_(positive_ - parent.compiled_->matrix) {}

  std::size_t size() const override { return parent_.size(); }

  ConstraintValues Evaluate(std::span<const double> scores) const override {
    detail::CheckScores(*parent_.rows_, scores);
    const detail::EventSums sums = parent_.Sums(scores);
    std::vector<double> tangents = parent_.kernel_->AccumulateTangents(anchor_, scores);
    parent_.rows_->SumOverWorkers(tangents);
    const Vector rates = Times(positive_, sums.surrogate) - Times(negative_, tangents);
    const Vector exact = Times(parent_.compiled_->matrix, sums.exact);
    ConstraintValues values{.surrogate = MinusBounds(rates, parent_.surrogate_bounds_),
                            .exact = MinusBounds(exact, parent_.compiled_->bounds),
                            .worst_exact_violation = 0.0};
    AddMeasured(*parent_.compiled_, sums.exact, values);
    return values;
  }

  double AddLagrangian(std::span<const double> scores, std::span<const double> multipliers,
                       std::span<double> gradient, std::span<double> hessian) const override {
    detail::CheckDerivatives(*parent_.rows_, scores, gradient, hessian);
    detail::CheckMultipliers(size(), multipliers);
    const Vector positive = TransposedTimes(positive_, multipliers);
    const Vector negative = -TransposedTimes(negative_, multipliers);
    double value = parent_.kernel_->AddDerivatives(scores, AsSpan(positive), gradient, hessian,
                                                   /*want_value=*/true);
    std::vector<double> tangent(scores.size(), 0.0);
    value += parent_.kernel_->AddDerivatives(anchor_, AsSpan(negative), tangent, {},
                                             /*want_value=*/true);
    for (std::size_t i = 0; i < tangent.size(); ++i) {
      value += tangent[i] * (scores[i] - anchor_[i]);
      gradient[i] += tangent[i];
    }
    return parent_.rows_->SumOverWorkers(value) -
           AsVector(multipliers).dot(AsVector(parent_.surrogate_bounds_));
  }

  double LipschitzBound() const override { return parent_.LipschitzBound(); }

 private:
  const RateConstraints& parent_;
  std::vector<double> anchor_;
  RowMatrix positive_;  // A+
  RowMatrix negative_;  // A-, non-negative
};

RateConstraints::RateConstraints(const std::vector<Constraint>& constraints, const RowData& rows,
                                 const SurrogateOptions& surrogate, const LossOptions& loss,
                                 EmptySubsetPolicy policy)
    : RateConstraints(rows, Compile(constraints, rows, policy), surrogate, loss) {}

RateConstraints RateConstraints::WithBounds(std::span<const double> bounds) const {
  return {*rows_, bregboost::WithBounds(*compiled_, bounds, *rows_), surrogate_, loss_};
}

RateConstraints::RateConstraints(const RowData& rows, CompiledConstraints compiled,
                                 const SurrogateOptions& surrogate, const LossOptions& loss)
    : rows_(&rows),
      surrogate_(surrogate),
      loss_(loss),
      compiled_(std::make_shared<const CompiledConstraints>(std::move(compiled))),
      used_slots_(compiled_->slots.size(), false) {
  Validate(surrogate);
  Validate(loss);
  for (Eigen::Index j = 0; j < compiled_->matrix.outerSize(); ++j) {
    for (RowMatrix::InnerIterator entry(compiled_->matrix, j); entry; ++entry) {
      used_slots_[static_cast<std::size_t>(entry.col()) % compiled_->slots.size()] = true;
    }
  }
  for (std::size_t slot = 0; slot < used_slots_.size(); ++slot) {
    if (used_slots_[slot] && compiled_->slots[slot].kind == SlotKind::kLoss) {
      detail::CheckLossFits(rows, loss);
    }
  }
  detail::EventLayout layout{
      .cells = &compiled_->cells,
      .slots = compiled_->slots,
      .used = used_slots_,
      .row_weights = rows.rate_weights.empty() ? rows.weights : rows.rate_weights,
      .targets = rows.targets,
      .num_classes = rows.labels.levels.size(),
      .surrogate = surrogate,
      .loss = loss};
  kernel_ = detail::MakeEventKernel(std::move(layout));
  SetInitialBounds();
}

RateConstraints::~RateConstraints() = default;
RateConstraints::RateConstraints(RateConstraints&&) noexcept = default;
RateConstraints& RateConstraints::operator=(RateConstraints&&) noexcept = default;

void RateConstraints::SetInitialBounds() {
  surrogate_bounds_ = compiled_->bounds;
  if (surrogate_.bound_rule == SurrogateBoundRule::kSame) return;
  const bool is_log = surrogate_.kind == SurrogateKind::kCrossEntropy ||
                      surrogate_.kind == SurrogateKind::kLogisticBase2;
  if (surrogate_.bound_rule == SurrogateBoundRule::kNegativeLog && !is_log) {
    throw std::invalid_argument(
        fmt::format("bound_rule: 'negative_log' with surrogate '{}'; allowed: cross_entropy, "
                    "logistic_base2",
                    Name(surrogate_.kind)));
  }
  const Vector coefficients = RateCoefficients(*compiled_);
  for (std::size_t j = 0; j < surrogate_bounds_.size(); ++j) {
    if (!compiled_->single_rate[j]) continue;
    const double coefficient = coefficients[static_cast<Eigen::Index>(j)];
    const double error = compiled_->bounds[j] / coefficient;
    surrogate_bounds_[j] =
        coefficient * (surrogate_.bound_rule == SurrogateBoundRule::kNegativeLog
                           ? NegativeLogBound(surrogate_, error)
                           : error * MissAtZero(surrogate_, rows_->labels.levels.size()));
  }
}

bool RateConstraints::UpdateBounds(double progress, const ScoreReader& read) {
  if (surrogate_.bound_rule != SurrogateBoundRule::kUniformThenCurrent) return false;
  if (progress == 0.0) {
    SetInitialBounds();
    return std::exchange(bounds_follow_current_loss_, false);
  }
  if (progress < 0.5 || bounds_follow_current_loss_) return false;
  bounds_follow_current_loss_ = true;
  const std::vector<double> sums = read([this](std::span<const double> scores) {
    detail::CheckScores(*rows_, scores);
    return Sums(scores).surrogate;
  });
  const std::vector<double> of_all_rows = MeansOfSlots(*compiled_, sums);
  const Vector of_subset =
      (compiled_->matrix * AsVector(sums)).cwiseQuotient(RateCoefficients(*compiled_));
  const bool binary = rows_->task() == Task::kBinary;
  for (std::size_t j = 0; j < surrogate_bounds_.size(); ++j) {
    if (!compiled_->single_rate[j]) continue;
    const auto row = static_cast<Eigen::Index>(j);
    const RowMatrix::InnerIterator first(compiled_->matrix, row);  // all entries have its slot
    const auto slot = static_cast<std::size_t>(first.col()) % compiled_->slots.size();
    surrogate_bounds_[j] = compiled_->bounds[j] * (binary ? of_subset[row] : of_all_rows[slot]);
  }
  return true;
}

detail::EventSums RateConstraints::Sums(std::span<const double> scores) const {
  detail::EventSums sums = kernel_->Accumulate(scores);
  if (rows_->workers == nullptr) return sums;
  const auto middle = static_cast<std::ptrdiff_t>(sums.exact.size());
  std::vector<double> both = sums.exact;  // one message
  both.insert(both.end(), sums.surrogate.begin(), sums.surrogate.end());
  rows_->SumOverWorkers(both);
  return {.exact = {both.begin(), both.begin() + middle},
          .surrogate = {both.begin() + middle, both.end()}};
}

ConstraintValues RateConstraints::Evaluate(std::span<const double> scores) const {
  detail::CheckScores(*rows_, scores);
  const detail::EventSums sums = Sums(scores);
  return ValuesOf(sums.exact, sums.surrogate);
}

ConstraintValues RateConstraints::ValuesOf(std::span<const double> exact_sums,
                                           std::span<const double> surrogate_sums) const {
  const Vector surrogate = Times(compiled_->matrix, surrogate_sums);
  const Vector exact = Times(compiled_->matrix, exact_sums);
  ConstraintValues values{.surrogate = MinusBounds(surrogate, surrogate_bounds_),
                          .exact = MinusBounds(exact, compiled_->bounds),
                          .worst_exact_violation = 0.0};
  AddMeasured(*compiled_, exact_sums, values);
  return values;
}

std::vector<double> RateConstraints::Coefficients(std::span<const double> multipliers) const {
  detail::CheckMultipliers(size(), multipliers);
  const Vector coefficients = TransposedTimes(compiled_->matrix, multipliers);
  return {coefficients.begin(), coefficients.end()};
}

double RateConstraints::AddLagrangian(std::span<const double> scores,
                                      std::span<const double> multipliers,
                                      std::span<double> gradient, std::span<double> hessian) const {
  detail::CheckDerivatives(*rows_, scores, gradient, hessian);
  detail::CheckMultipliers(size(), multipliers);
  const Vector coefficients = TransposedTimes(compiled_->matrix, multipliers);
  const double value = kernel_->AddDerivatives(scores, AsSpan(coefficients), gradient, hessian,
                                               /*want_value=*/true);
  return rows_->SumOverWorkers(value) - AsVector(multipliers).dot(AsVector(surrogate_bounds_));
}

void RateConstraints::AddDerivatives(std::span<const double> scores,
                                     std::span<const double> multipliers,
                                     std::span<double> gradient, std::span<double> hessian) const {
  detail::CheckDerivatives(*rows_, scores, gradient, hessian);
  detail::CheckMultipliers(size(), multipliers);
  const Vector coefficients = TransposedTimes(compiled_->matrix, multipliers);
  kernel_->AddDerivatives(scores, AsSpan(coefficients), gradient, hessian, /*want_value=*/false);
}

std::vector<Constraint> RateConstraints::sources() const {
  std::vector<Constraint> sources;
  for (const CompiledConstraint& constraint : compiled_->constraints) {
    sources.push_back(constraint.source);
  }
  return sources;
}

std::vector<double> RateConstraints::ExactSums(std::span<const double> scores) const {
  detail::CheckScores(*rows_, scores);
  std::vector<double> sums = kernel_->AccumulateExact(scores);
  rows_->SumOverWorkers(sums);
  return sums;
}

std::vector<Measurement> RateConstraints::Measure(std::span<const double> scores) const {
  const std::vector<double> sums = ExactSums(scores);
  std::vector<Measurement> result;
  for (const CompiledConstraint& constraint : compiled_->constraints) {
    result.push_back(bregboost::Measure(constraint, sums));
  }
  return result;
}

bool RateConstraints::SlotIsConvex(std::size_t slot) const {
  const SlotKind kind = compiled_->slots[slot].kind;
  return kind == SlotKind::kLoss || (kind != SlotKind::kSelected && IsConvex(surrogate_));
}

double RateConstraints::SlotSlope(std::size_t slot) const {
  const std::size_t classes = rows_->labels.levels.size();
  switch (compiled_->slots[slot].kind) {
    case SlotKind::kLoss:
      return LossBounds(loss_, classes).slope;
    case SlotKind::kSelected:
      return SelectionBounds(surrogate_).slope;
    default:
      return MissBounds(surrogate_, classes).slope;
  }
}

double RateConstraints::SlotCurvature(std::size_t slot) const {
  const std::size_t classes = rows_->labels.levels.size();
  switch (compiled_->slots[slot].kind) {
    case SlotKind::kLoss:
      return LossBounds(loss_, classes).curvature;
    case SlotKind::kSelected:
      return SelectionBounds(surrogate_).curvature;
    default:
      // A clipped loss bends down with a kink, which no quadratic can make convex.
      return std::isfinite(surrogate_.clip) ? kInfinity : MissBounds(surrogate_, classes).curvature;
  }
}

bool RateConstraints::convex() const {
  for (Eigen::Index j = 0; j < compiled_->matrix.outerSize(); ++j) {
    for (RowMatrix::InnerIterator entry(compiled_->matrix, j); entry; ++entry) {
      const std::size_t slot = static_cast<std::size_t>(entry.col()) % compiled_->slots.size();
      if (entry.value() < 0.0 || !SlotIsConvex(slot)) return false;
    }
  }
  return true;
}

// Row i of cell c moves g_j by at most r_i a_jc, a_jc = sum over slots of |A_jcs| * slope. In the
// score norm the jacobian's gram matrix is bounded entrywise by B B' with B_jc = a_jc sqrt(Q_c),
// Q_c = M sum over the cell of r_i^2 / m_i; both are non-negative, so the norms follow.
double RateConstraints::LipschitzBound() const {
  const std::size_t num_slots = compiled_->slots.size();
  std::vector<Eigen::Triplet<double>> triplets;
  for (Eigen::Index j = 0; j < compiled_->matrix.outerSize(); ++j) {
    for (RowMatrix::InnerIterator entry(compiled_->matrix, j); entry; ++entry) {
      const auto column = static_cast<std::size_t>(entry.col());
      const double slope = SlotSlope(column % num_slots);
      if (std::isinf(slope)) return kInfinity;
      const Cell& cell = compiled_->cells.cells[column / num_slots];
      const double spread = std::sqrt(compiled_->cells.metric_weight * cell.squared_rate_weight);
      triplets.emplace_back(static_cast<int>(j), static_cast<int>(column / num_slots),
                            std::abs(entry.value()) * slope * spread);
    }
  }
  RowMatrix b(compiled_->matrix.rows(), static_cast<Eigen::Index>(compiled_->cells.cells.size()));
  b.setFromTriplets(triplets.begin(), triplets.end());
  return std::sqrt(SpectralBound(b));
}

// Row i's part of g_j bends down by at most r_i sum |A_jcs| * curvature over the concave slots;
// m_i / M of the quadratic must outweigh it.
double RateConstraints::WeakConvexityBound() const {
  const std::size_t num_slots = compiled_->slots.size();
  double worst = 0.0;
  for (Eigen::Index j = 0; j < compiled_->matrix.outerSize(); ++j) {
    std::size_t current_cell = compiled_->cells.cells.size();
    double bend = 0.0;
    for (RowMatrix::InnerIterator entry(compiled_->matrix, j); entry; ++entry) {
      const auto column = static_cast<std::size_t>(entry.col());
      const std::size_t slot = column % num_slots;
      if (column / num_slots != current_cell) bend = 0.0;  // columns come sorted by cell
      current_cell = column / num_slots;
      if (entry.value() >= 0.0 && SlotIsConvex(slot)) continue;
      bend += std::abs(entry.value()) * SlotCurvature(slot);
      const Cell& cell = compiled_->cells.cells[current_cell];
      worst = std::max(worst, bend * compiled_->cells.metric_weight * cell.max_weight_ratio);
    }
  }
  return worst;
}

std::unique_ptr<ConstraintSet> RateConstraints::Majorize(std::span<const double> scores) const {
  detail::CheckScores(*rows_, scores);
  for (Eigen::Index j = 0; j < compiled_->matrix.outerSize(); ++j) {
    for (RowMatrix::InnerIterator entry(compiled_->matrix, j); entry; ++entry) {
      if (!SlotIsConvex(static_cast<std::size_t>(entry.col()) % compiled_->slots.size())) {
        return nullptr;
      }
    }
  }
  return std::make_unique<Majorizer>(*this, scores);
}

}  // namespace bregboost
