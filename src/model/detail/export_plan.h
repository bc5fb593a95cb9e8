// What an exported model holds, whatever its format: which rounds of which part, how they are
// scaled, and the constants that go into the first trees.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "bregboost/model/tree_model.h"

namespace bregboost::detail {

struct PlannedRound {
  std::size_t part = 0;
  std::size_t round = 0;
  double factor = 1.0;  // times every leaf of the round
};

struct ExportPlan {
  std::vector<PlannedRound> rounds;  // in the order of the exported model
  std::vector<double> constants;     // one per score
};

// Range checks that need no model text.
void CheckExport(std::span<const ModelPart> parts, const ExportSpec& spec);

// `num_rounds` of each part, after CheckExport. Throws if weights do not fit them.
ExportPlan PlanExport(std::span<const ModelPart> parts, std::span<const std::size_t> num_rounds,
                      const ExportSpec& spec);

// For messages: "LightGBM model", or "LightGBM model 2 of 5".
std::string PartName(const char* library, std::size_t part, std::size_t num_parts);

}  // namespace bregboost::detail
