// LightGBM's model text.
#include "model/detail/lightgbm_text.h"
#include "model_round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bregboost;  // NOLINT: a program
  const auto num_scores = [](std::string_view model) {
    return detail::ParseLightGbmText(model, "model").trees_per_round;
  };
  fuzz::ReadExportAndReadAgain(fuzz::TextOf(data, size), num_scores, &ExportLightGbm);
  return 0;
}
