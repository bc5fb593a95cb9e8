// What a Calibrator knows of its scores before it sees a problem.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "bregboost/data/row_data.h"

namespace bregboost::detail {

struct BoundScores {
  BoundScores(std::span<const double> scores, const RowData& rows);

  std::span<const double> scores;  // class-major
  const RowData* rows;
  double temperature;
  std::vector<std::uint32_t> ascending;  // binary: rows by score, then by number
  std::vector<double> sorted_scores;     // theirs, in that order

  // FitClassBiases() of F / temperature, for F / at_temperature to say the same. Fitted when first
  // asked for. K > 1.
  std::vector<double> BiasesAt(double at_temperature) const;
  // F / T, class-major.
  std::vector<double> Scaled(double at_temperature) const;

 private:
  mutable std::once_flag fitted_;
  mutable std::vector<double> biases_;
};

}  // namespace bregboost::detail
