// Seeded random problems for the tests of calibrate/, and scores with known densities.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "bregboost/problem/constraint_error.h"
#include "bregboost/problem/rate_problem.h"
#include "random_problems.h"

namespace bregboost::test {

struct ScoredRows {
  RowData rows;
  std::vector<double> scores;
};

// Scores with a hint of the label. On a grid of whole numbers many of them are tied.
inline ScoredRows RandomScoredRows(std::vector<std::string> classes, std::size_t n, bool weighted,
                                   bool on_grid, std::uint64_t seed) {
  ScoredRows data{.rows = ClassRows(std::move(classes), n, seed), .scores = {}};
  if (!weighted) data.rows.weights = data.rows.rate_weights = {};
  data.scores = RandomScores(data.rows, 1.5, seed + 1);
  for (std::size_t j = 0; j < data.scores.size(); ++j) {
    const bool binary = data.rows.num_scores() == 1;
    const auto label = static_cast<std::size_t>(data.rows.labels.codes[j % n]);
    if (label == (binary ? 1 : j / n)) data.scores[j] += 1.5;
    if (on_grid) data.scores[j] = std::round(data.scores[j]);
  }
  return data;
}

// One to four of the templates, each with a bound of its own in place of {}.
inline std::vector<std::string> RandomTexts(const std::vector<std::string>& templates,
                                            Random& random) {
  std::vector<std::string> texts;
  const std::size_t count = 1 + random() % 4;
  for (std::size_t j = 0; j < count; ++j) {
    std::string text = templates[random() % templates.size()];
    text.replace(text.find("{}"), 2, std::to_string(5 + random() % 90) + "%");
    texts.push_back(text);
  }
  return texts;
}

// Nothing where the draw contradicts itself.
inline std::optional<RateProblem> TryProblem(const std::vector<std::string>& texts,
                                             const std::string& objective, const RowData& rows) {
  try {
    return std::optional<RateProblem>(std::in_place, ParseAll(texts), ParseObjective(objective),
                                      rows, LossOptions{}, EmptySubsetPolicy::kUndefined);
  } catch (const ConstraintError&) {
    return std::nullopt;
  }
}

// S of predictions by the constraints' own pass over the rows; losses are those of `scores`.
inline std::vector<double> SumsOfPredictions(const RateProblem& problem,
                                             const std::vector<double>& scores,
                                             const std::vector<std::int32_t>& predicted) {
  const std::size_t n = predicted.size();
  std::vector<double> decided(scores.size(), -1.0);
  for (std::size_t i = 0; i < n; ++i) {
    if (problem.rows().num_scores() == 1) {
      decided[i] = predicted[i] == 1 ? 1.0 : -1.0;
    } else {
      decided[static_cast<std::size_t>(predicted[i]) * n + i] = 1.0;
    }
  }
  std::vector<double> sums = problem.rates().ExactSums(decided);
  const std::vector<double> of_scores = problem.rates().ExactSums(scores);
  const std::vector<Slot>& slots = problem.compiled().slots;
  for (std::size_t j = 0; j < sums.size(); ++j) {
    if (slots[j % slots.size()].kind == SlotKind::kLoss) sums[j] = of_scores[j];
  }
  return sums;
}

// What the adjusted model predicts.
inline std::vector<std::int32_t> Predictions(const RowData& rows, const std::vector<double>& scores,
                                             double temperature,
                                             const std::vector<double>& offsets) {
  const std::size_t n = rows.num_rows();
  std::vector<std::int32_t> predicted(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    if (rows.num_scores() == 1) {
      predicted[i] = scores[i] / temperature + offsets[0] > 0.0 ? 1 : 0;
      continue;
    }
    double highest = scores[i] / temperature + offsets[0];
    for (std::size_t k = 1; k < rows.num_scores(); ++k) {
      const double value = scores[k * n + i] / temperature + offsets[k];
      if (value <= highest) continue;
      highest = value;
      predicted[i] = static_cast<std::int32_t>(k);
    }
  }
  return predicted;
}

// Undefined constraints first, then cost + rho * the violations of the others.
struct Judged {
  int undefined = 0;
  double merit = 0.0;
};
inline Judged Judge(const RateProblem& problem, const std::vector<double>& sums, double rho) {
  Judged judged{.undefined = 0, .merit = problem.Cost(sums)};
  for (const Measurement& measurement : problem.Measure(sums)) {
    if (std::isinf(measurement.violation)) {
      ++judged.undefined;
    } else {
      judged.merit += rho * measurement.violation;
    }
  }
  return judged;
}
inline bool IsLess(const Judged& a, const Judged& b) {
  return a.undefined != b.undefined ? a.undefined < b.undefined : a.merit < b.merit;
}

}  // namespace bregboost::test
