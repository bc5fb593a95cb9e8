// LightGBM's model text: what is read is exported, and the export is read again.
#include <stdexcept>

#include "bregboost/model/tree_model.h"
#include "fuzz_target.h"
#include "model/detail/lightgbm_text.h"

namespace {

using namespace bregboost;  // NOLINT: a program

ExportSpec SpecOf(std::size_t num_scores) {
  ExportSpec spec{.num_scores = num_scores, .inverse_temperature = 0.5};
  if (num_scores > 1) spec.objective = ModelObjective::kMulticlass;
  spec.offsets.assign(num_scores, 0.25);
  return spec;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::TextOf(data, size);
  std::string exported;
  std::size_t num_scores = 0;
  try {
    num_scores = detail::ParseLightGbmText(text, "model").trees_per_round;
    // The number of classes is the caller's, who knows it from the rows.
    constexpr std::size_t kMostScores = 100;
    if (num_scores > kMostScores) return 0;
    const ModelPart part{.text = text};
    exported = ExportLightGbm({&part, 1}, SpecOf(num_scores));
  } catch (const std::invalid_argument&) {
    return 0;
  }
  fuzz::Require(detail::ParseLightGbmText(exported, "export").trees_per_round == num_scores,
                "an export is a model");
  return 0;
}
