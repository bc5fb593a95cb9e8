// Seeded random rows and scores, shared by the tests of problem/.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bregboost/data/row_data.h"
#include "bregboost/problem/constraint.h"
#include "bregboost/problem/parser.h"

namespace bregboost::test {

using Random = std::mt19937_64;

inline CategoricalColumn RandomColumn(std::string name, std::vector<std::string> levels,
                                      std::size_t n, Random& random) {
  std::uniform_int_distribution<std::int32_t> code(0, static_cast<std::int32_t>(levels.size()) - 1);
  CategoricalColumn column{.name = std::move(name), .levels = std::move(levels), .codes = {}};
  for (std::size_t i = 0; i < n; ++i) column.codes.push_back(code(random));
  return column;
}

inline std::vector<double> RandomNormal(std::size_t n, double spread, Random& random) {
  std::normal_distribution<double> normal(0.0, spread);
  std::vector<double> values(n);
  for (double& value : values) value = normal(random);
  return values;
}

inline std::vector<double> RandomUniform(std::size_t n, double low, double high, Random& random) {
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<double> values(n);
  for (double& value : values) value = uniform(random);
  return values;
}

// Groups sex (F, M) and race (A, B, C), weights, and other weights for the rates.
inline void AddGroupsAndWeights(std::size_t n, Random& random, RowData& rows) {
  rows.groups = {RandomColumn("sex", {"F", "M"}, n, random),
                 RandomColumn("race", {"A", "B", "C"}, n, random)};
  rows.weights = RandomUniform(n, 0.5, 2.0, random);
  rows.rate_weights = RandomUniform(n, 0.5, 2.0, random);
}

inline RowData ClassRows(std::vector<std::string> classes, std::size_t n, std::uint64_t seed) {
  Random random(seed);
  RowData rows;
  rows.labels = RandomColumn("label", std::move(classes), n, random);
  AddGroupsAndWeights(n, random, rows);
  rows.baseline = RandomColumn("", rows.labels.levels, n, random).codes;
  return rows;
}

inline RowData BinaryRows(std::size_t n, std::uint64_t seed) {
  return ClassRows({"no", "yes"}, n, seed);
}

// Not random: sex has the level X without rows, and no F is labelled yes.
inline RowData RowsWithHoles() {
  RowData rows;
  rows.labels = EncodeColumn("y", {"no", "yes", "no", "yes"});
  rows.groups = {EncodeColumn("sex", {"F", "M", "F", "M"})};
  rows.groups[0].levels.emplace_back("X");
  return rows;
}

inline RowData FourClassRows(std::size_t n, std::uint64_t seed) {
  return ClassRows({"a", "b", "c", "d"}, n, seed);
}

inline RowData RegressionRows(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  RowData rows;
  rows.targets = RandomNormal(n, 1.0, random);
  AddGroupsAndWeights(n, random, rows);
  return rows;
}

inline std::vector<double> RandomScores(const RowData& rows, double spread, std::uint64_t seed) {
  Random random(seed);
  return RandomNormal(rows.num_rows() * rows.num_scores(), spread, random);
}

inline std::vector<Constraint> ParseAll(const std::vector<std::string>& texts) {
  std::vector<Constraint> constraints;
  for (const std::string& text : texts) constraints.push_back(ParseConstraint(text));
  return constraints;
}

// Class-major scores -> the score of one class in one row.
inline double ScoreOf(const RowData& rows, const std::vector<double>& scores, std::size_t k,
                      std::size_t row) {
  return scores[k * rows.num_rows() + row];
}

// The row's label loss -log p_y by its definition.
inline double CrossEntropyOf(const RowData& rows, const std::vector<double>& scores,
                             std::size_t target, std::size_t row) {
  if (rows.task() == Task::kBinary) {
    return std::log1p(std::exp(target == 1 ? -scores[row] : scores[row]));
  }
  double total = 0.0;
  for (std::size_t k = 0; k < rows.num_scores(); ++k) {
    total += std::exp(ScoreOf(rows, scores, k, row));
  }
  return std::log(total) - ScoreOf(rows, scores, target, row);
}

}  // namespace bregboost::test
