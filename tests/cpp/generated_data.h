// Generated data sets for tests of learners and solvers: fixed seeds, no files.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "bregboost/data/row_data.h"

namespace bregboost::testing {

struct GeneratedData {
  RowData rows;
  std::size_t num_features = 0;
  std::vector<double> features;  // row-major
};

// Two overlapping groups, "a" and "b", whose labels depend on the features with different noise, so
// that a plain model has a lower loss on "a". Labels do not separate.
inline GeneratedData TwoGroups(std::size_t n, unsigned seed) {
  constexpr std::size_t kFeatures = 4;
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  GeneratedData data;
  data.num_features = kFeatures;
  std::vector<std::string> labels, groups;
  for (std::size_t i = 0; i < n; ++i) {
    const bool in_b = uniform(random) < 0.4;
    double score = 0.2;
    for (std::size_t j = 0; j < kFeatures; ++j) {
      const double x = normal(random) + (in_b && j == 0 ? 0.5 : 0.0);
      data.features.push_back(x);
      score += (in_b && j == 1 ? -0.3 : 0.8) * x;
    }
    const double p = 1.0 / (1.0 + std::exp(-(in_b ? 0.7 : 2.0) * score));
    labels.emplace_back(uniform(random) < p ? "1" : "0");
    groups.emplace_back(in_b ? "b" : "a");
  }
  data.rows.labels = EncodeColumn("label", labels);
  data.rows.groups.push_back(EncodeColumn("group", groups));
  return data;
}

// Three classes in the plane around the corners of a triangle, overlapping.
inline GeneratedData ThreeClasses(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  GeneratedData data;
  data.num_features = 2;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t k = i % 3;
    const double angle = 2.0943951 * static_cast<double>(k);
    data.features.push_back(1.2 * std::cos(angle) + normal(random));
    data.features.push_back(1.2 * std::sin(angle) + normal(random));
    labels.push_back(std::to_string(k));
  }
  data.rows.labels = EncodeColumn("label", labels);
  return data;
}

// Labels follow a merit, alike in both groups, and the group itself, which a feature gives away. A
// model that uses both selects group "a" far more often; one threshold for all rows can only mend
// that by selecting nearly everybody or nobody, while a model that leaves the giveaway alone loses
// little.
inline GeneratedData MeritAndGiveaway(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  GeneratedData data;
  data.num_features = 3;
  std::vector<std::string> labels, groups;
  for (std::size_t i = 0; i < n; ++i) {
    const bool in_b = uniform(random) < 0.5;
    const double merit = normal(random);
    data.features.insert(data.features.end(),
                         {merit, (in_b ? -1.5 : 1.5) + normal(random), normal(random)});
    const double p = 1.0 / (1.0 + std::exp(-(3.0 * merit + (in_b ? -1.5 : 1.5))));
    labels.emplace_back(uniform(random) < p ? "1" : "0");
    groups.emplace_back(in_b ? "b" : "a");
  }
  data.rows.labels = EncodeColumn("label", labels);
  data.rows.groups.push_back(EncodeColumn("group", groups));
  return data;
}

// y = 2 x_1 - x_2 + 0.5 + noise, noisier in group "b".
inline GeneratedData NoisyLine(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  GeneratedData data;
  data.num_features = 2;
  std::vector<std::string> groups;
  for (std::size_t i = 0; i < n; ++i) {
    const bool in_b = i % 3 == 0;
    const double x1 = normal(random);
    const double x2 = normal(random);
    data.features.insert(data.features.end(), {x1, x2});
    data.rows.targets.push_back((in_b ? 1.2 : 2.0) * x1 - x2 + 0.5 +
                                (in_b ? 0.8 : 0.3) * normal(random));
    groups.emplace_back(in_b ? "b" : "a");
  }
  data.rows.groups.push_back(EncodeColumn("group", groups));
  return data;
}

}  // namespace bregboost::testing
