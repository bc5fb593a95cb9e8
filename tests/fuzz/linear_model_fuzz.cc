// The file of a linear model: whatever is read predicts.
#include <array>
#include <stdexcept>

#include "bregboost/model/stored_model.h"
#include "fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bregboost;  // NOLINT: a program
  constexpr std::array<double, 6> kValues = {0.0, -1.0, 0.5, 3.0, 1e300, -2.0};
  try {
    const StoredModel model = StoredModel::Linear(fuzz::TextOf(data, size));
    for (const std::size_t columns : {1U, 2U, 3U}) {
      const std::size_t rows = kValues.size() / columns;
      try {
        const auto scores = model.Scores(FeatureArray::RowMajor(kValues, rows, columns));
        fuzz::Require(!scores.empty() && scores.size() % rows == 0, "every row has its scores");
        ClassProbabilities(scores, rows);
        Decisions(scores, rows);
      } catch (const std::invalid_argument&) {
        // Trained on another number of columns.
      }
    }
  } catch (const std::invalid_argument&) {
    // No such model.
  }
  return 0;
}
