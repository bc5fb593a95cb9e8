// XGBoost's models, JSON and UBJSON.
#include "model/detail/xgboost_model.h"
#include "model_round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bregboost;  // NOLINT: a program
  const auto num_scores = [](std::string_view model) {
    return detail::ParseXgboostModel(model, "model").num_scores;
  };
  fuzz::ReadExportAndReadAgain(fuzz::TextOf(data, size), num_scores, &ExportXgboost);
  return 0;
}
