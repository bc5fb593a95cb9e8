// Scores where a library left them: LightGBM hands out doubles class by class, XGBoost floats row by
// row. Passes read either as it is, so that no round pays for a conversion.
#pragma once

#include <cstddef>
#include <variant>

namespace bregboost::detail {

enum class ScoreLayout {
  kClassMajor,  // score k of row i at [k * num_rows + i]
  kRowMajor,    // at [i * num_scores + k]
};

struct ScoreView {
  std::variant<const double*, const float*> data;
  std::size_t num_rows = 0;
  std::size_t num_scores = 1;
  ScoreLayout layout = ScoreLayout::kClassMajor;

  std::size_t size() const { return num_rows * num_scores; }
};

}  // namespace bregboost::detail
