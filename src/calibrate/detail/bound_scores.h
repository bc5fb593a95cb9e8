// What a Calibrator knows of its scores before it sees a problem.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bregboost/data/row_data.h"

namespace bregboost::detail {

struct BoundScores {
  BoundScores(std::span<const double> scores, const RowData& rows);

  std::span<const double> scores;  // class-major
  const RowData* rows;
  double temperature;
  std::vector<double> biases;            // K > 3: FitClassBiases() of F / temperature
  std::vector<std::uint32_t> ascending;  // binary: rows by score, then by number
  std::vector<double> sorted_scores;     // theirs, in that order

  // Those of F / at_temperature that say the same.
  std::vector<double> BiasesAt(double at_temperature) const;
  // F / T, class-major.
  std::vector<double> Scaled(double at_temperature) const;
};

}  // namespace bregboost::detail
