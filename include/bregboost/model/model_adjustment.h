// What calibration adds to the scores of a finished model.
#pragma once

#include <vector>

namespace bregboost {

// The model's scores become F / temperature + offset.
struct ModelAdjustment {
  double temperature = 1.0;          // > 0
  std::vector<double> offsets = {};  // one per score; empty: none
};

}  // namespace bregboost
