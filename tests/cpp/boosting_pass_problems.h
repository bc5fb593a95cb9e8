// Random problems for tests of the boosting passes, in every type and layout of scores, and the
// answers in double from objective and constraints themselves.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bregboost/problem/objective.h"
#include "bregboost/problem/rate_constraints.h"
#include "learners/detail/boosting_pass.h"
#include "random_problems.h"

namespace bregboost::test {

enum class Weights { kNone, kLoss, kBoth, kRatesOnly };

inline RowData PassRows(std::size_t num_classes, std::size_t n, Weights weights,
                        std::uint64_t seed) {
  std::vector<std::string> classes;
  for (std::size_t k = 0; k < num_classes; ++k) classes.push_back("c" + std::to_string(k));
  RowData rows = ClassRows(classes, n, seed);
  if (weights == Weights::kNone || weights == Weights::kRatesOnly) rows.weights.clear();
  if (weights == Weights::kNone || weights == Weights::kLoss) rows.rate_weights.clear();
  return rows;
}

// Scores in one type and layout. Values are those of `class_major` as far as the type can hold.
class TypedScores {
 public:
  TypedScores(const std::vector<double>& class_major, std::size_t num_rows, bool doubles,
              detail::ScoreLayout layout)
      : doubles_(class_major.size()), floats_(class_major.size()) {
    const std::size_t num_scores = class_major.size() / num_rows;
    for (std::size_t k = 0; k < num_scores; ++k) {
      for (std::size_t i = 0; i < num_rows; ++i) {
        const bool columns = layout == detail::ScoreLayout::kClassMajor;
        const std::size_t at = columns ? k * num_rows + i : i * num_scores + k;
        doubles_[at] = class_major[k * num_rows + i];
        floats_[at] = static_cast<float>(class_major[k * num_rows + i]);
      }
    }
    view_ = {
        .data = floats_.data(), .num_rows = num_rows, .num_scores = num_scores, .layout = layout};
    if (doubles) view_.data = doubles_.data();
  }
  TypedScores(const TypedScores&) = delete;
  TypedScores& operator=(const TypedScores&) = delete;

  const detail::ScoreView& view() const { return view_; }

  std::size_t IndexOf(std::size_t row, std::size_t k) const {
    return view_.layout == detail::ScoreLayout::kClassMajor ? k * view_.num_rows + row
                                                            : row * view_.num_scores + k;
  }

  std::vector<double> ClassMajor() const {
    std::vector<double> result(view_.size());
    detail::ForEachScore(view_, [&](std::size_t row, std::size_t k, double value) {
      result[k * view_.num_rows + row] = value;
    });
    return result;
  }

 private:
  std::vector<double> doubles_;
  std::vector<float> floats_;
  detail::ScoreView view_;
};

struct Layout {
  bool doubles;
  detail::ScoreLayout layout;
};
inline constexpr Layout kLightGbm = {true, detail::ScoreLayout::kClassMajor};
inline constexpr Layout kXgboost = {false, detail::ScoreLayout::kRowMajor};
inline constexpr Layout kLayouts[] = {kLightGbm,
                                      kXgboost,
                                      {true, detail::ScoreLayout::kRowMajor},
                                      {false, detail::ScoreLayout::kClassMajor}};

inline std::unique_ptr<TypedScores> Typed(const std::vector<double>& class_major,
                                          std::size_t num_rows, const Layout& layout) {
  return std::make_unique<TypedScores>(class_major, num_rows, layout.doubles, layout.layout);
}

struct Derivatives {
  explicit Derivatives(std::size_t size) : gradient(size), hessian(size) {}
  std::vector<float> gradient, hessian;
  double factor = 0.0;
};

inline Derivatives Derive(const detail::BoostingPass& pass, const detail::Lagrangian& lagrangian,
                          const detail::ScoreView& scores) {
  Derivatives derived(scores.size());
  derived.factor = pass.Derive(lagrangian, scores, derived.gradient, derived.hessian);
  return derived;
}

// psi's derivatives in double, class-major: what Derive() returns but for the factor.
struct Reference {
  std::vector<double> gradient, hessian;
};

inline Reference ReferenceOf(const Objective& objective, const detail::Lagrangian& lagrangian,
                             const TypedScores& scores) {
  const RowData& rows = objective.rows();
  const std::vector<double> values = scores.ClassMajor();
  Reference reference{.gradient = std::vector<double>(values.size(), 0.0),
                      .hessian = std::vector<double>(values.size(), 0.0)};
  objective.AddDerivatives(values, lagrangian.objective_weight, reference.gradient,
                           reference.hessian);
  if (lagrangian.constraints != nullptr) {
    lagrangian.constraints->AddDerivatives(values, lagrangian.multipliers, reference.gradient,
                                           reference.hessian);
  }
  double total = 0.0;
  for (std::size_t i = 0; i < rows.num_rows(); ++i) total += rows.metric_weight(i);
  for (const detail::Pull& pull : lagrangian.pulls) {
    const auto add = [&](std::size_t row, std::size_t k, double center) {
      const std::size_t at = k * rows.num_rows() + row;
      const double strength = pull.weight * rows.metric_weight(row) / total;
      reference.gradient[at] += strength * (values[at] - center);
      reference.hessian[at] += strength;
    };
    if (pull.center.num_rows > 0) {
      detail::ForEachScore(pull.center, add);
    } else {
      detail::ForEachScore(scores.view(), add);  // no pull, but its curvature
    }
  }
  return reference;
}

// Every element agrees to `relative` of itself, and a little of the largest where terms cancel.
inline void ExpectSame(const Derivatives& derived, const Reference& reference,
                       const TypedScores& scores, double relative = 1e-5,
                       double of_largest = 1e-7) {
  const std::size_t n = scores.view().num_rows;
  double worst = 0.0;
  const auto compare = [&](const std::vector<float>& got, const std::vector<double>& want) {
    double largest = 0.0;
    for (const double value : want) largest = std::max(largest, std::abs(derived.factor * value));
    for (std::size_t at = 0; at < want.size(); ++at) {
      const double expected = derived.factor * want[at];
      const auto actual = static_cast<double>(got[scores.IndexOf(at % n, at / n)]);
      const double allowed = relative * std::abs(expected) + of_largest * largest;
      const double error = std::abs(actual - expected);
      if (!(error <= allowed)) worst = std::max(worst, std::isnan(error) ? 1e300 : error / allowed);
    }
  };
  compare(derived.gradient, reference.gradient);
  EXPECT_EQ(worst, 0.0) << "gradient: error in units of the tolerance";
  worst = 0.0;
  compare(derived.hessian, reference.hessian);
  EXPECT_EQ(worst, 0.0) << "hessian: error in units of the tolerance";
}

// Constraints whose surrogates are cross-entropies. Rows are charged for missing their own label
// only; or, with two classes, for any miss.
inline const std::vector<std::string>& OwnMisses() {
  static const std::vector<std::string> texts = {"error <= 30%", "error(class=c1, sex=F) <= 20%",
                                                 "gap(error, by=sex) <= 5%", "loss(sex=M) <= 0.5",
                                                 "error(sex=F) - 2 * error(race=A) <= 10%"};
  return texts;
}
inline const std::vector<std::string>& AnyMisses(std::size_t num_classes) {
  static const std::vector<std::string> two = {"selection_rate(sex=F) <= 40%",
                                               "gap(selection_rate, by=race) <= 5%",
                                               "disagreement <= 20%", "gap(loss, by=sex) <= 0.05"};
  static const std::vector<std::string> more = {"disagreement(sex=F) <= 20%",
                                                "gap(loss, by=sex) <= 0.05",
                                                "balanced_error - disagreement <= 10%"};
  return num_classes == 2 ? two : more;
}

inline std::vector<double> Multipliers(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  return RandomUniform(size, 0.0, 2.0, random);
}

struct Case {
  std::size_t num_classes;
  Weights weights;
  ObjectiveWeighting weighting;
  SurrogateKind surrogate;
  bool own_misses;
};

inline std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const std::size_t num_classes : {2UL, 3UL, 7UL}) {
    for (const Weights weights :
         {Weights::kNone, Weights::kLoss, Weights::kBoth, Weights::kRatesOnly}) {
      for (const bool own_misses : {true, false}) {
        // Both of the other two, in turns.
        const bool odd = cases.size() % 2 == 1, odd_half = cases.size() / 2 % 2 == 1;
        cases.push_back({num_classes, weights,
                         odd ? ObjectiveWeighting::kClassBalanced : ObjectiveWeighting::kRows,
                         odd_half ? SurrogateKind::kLogisticBase2 : SurrogateKind::kCrossEntropy,
                         own_misses});
      }
    }
  }
  return cases;
}

struct Problem {
  Problem(const Case& c, std::size_t n, std::uint64_t seed)
      : rows(PassRows(c.num_classes, n, c.weights, seed)),
        objective(rows, {.loss = {}, .weighting = c.weighting}),
        constraints(ParseAll(c.own_misses ? OwnMisses() : AnyMisses(c.num_classes)), rows,
                    {.kind = c.surrogate}),
        multipliers(Multipliers(constraints.size(), seed)),
        pass(objective, {}) {}
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  std::unique_ptr<TypedScores> Scores(double spread, std::uint64_t seed,
                                      const Layout& layout = kLightGbm) const {
    return Typed(RandomScores(rows, spread, seed), rows.num_rows(), layout);
  }

  RowData rows;
  Objective objective;
  RateConstraints constraints;
  std::vector<double> multipliers;
  detail::BoostingPass pass;
};

// Huge, tiny and where exponentials leave the floats.
inline std::vector<double> ExtremeScores(const RowData& rows) {
  static const std::vector<double> extremes = {0.0,   -0.0,   1e4,    -1e4,    88.0,
                                               -88.0, 103.0,  -103.0, 1e-30,   -1e-30,
                                               700.0, -700.0, 1.0,    20000.5, 1e4 + 1.0};
  std::vector<double> values(rows.num_rows() * rows.num_scores());
  for (std::size_t j = 0; j < values.size(); ++j) values[j] = extremes[j * 7 % extremes.size()];
  return values;
}

inline std::string Describe(const Case& c) {
  return fmt::format("{} classes, weights {}, weighting {}, {}, {}", c.num_classes,
                     static_cast<int>(c.weights), static_cast<int>(c.weighting), Name(c.surrogate),
                     c.own_misses ? "own misses" : "any misses");
}

}  // namespace bregboost::test
