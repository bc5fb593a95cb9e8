// Model files of either library: what is read is exported, and the export is read again.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "bregboost/model/tree_model.h"
#include "fuzz_target.h"

namespace bregboost::fuzz {

// num_scores(model) parses a model and tells how many scores it has.
template <class NumScores>
void ReadExportAndReadAgain(std::string_view model, const NumScores& num_scores,
                            std::string (*write)(std::span<const ModelPart>, const ExportSpec&)) {
  std::string exported;
  ExportSpec spec{.inverse_temperature = 0.5};
  try {
    spec.num_scores = num_scores(model);
    // The number of classes is the caller's, who knows it from the rows.
    constexpr std::size_t kMostScores = 100;
    if (spec.num_scores > kMostScores) return;
    if (spec.num_scores > 1) spec.objective = ModelObjective::kMulticlass;
    spec.offsets.assign(spec.num_scores, 0.25);
    const ModelPart part{.text = model};
    exported = write({&part, 1}, spec);
  } catch (const std::invalid_argument&) {
    return;
  }
  Require(num_scores(exported) == spec.num_scores, "an export is a model");
}

}  // namespace bregboost::fuzz
