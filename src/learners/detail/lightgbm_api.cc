#include "learners/detail/lightgbm_api.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace bregboost::detail {

std::shared_ptr<const LightGbmApi> LightGbmApi::Load(const std::string& explicit_path) {
  static const LibraryNames names = {
      .title = "LightGBM",
      .package = "lightgbm",
      .file = "lib_lightgbm.so",
      .environment_variable = "BREGBOOST_LIGHTGBM",
      .oldest_version = "4.0",
  };
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const LightGbmApi>> loaded;  // by path
  SharedLibrary library = SharedLibrary::Find(names, explicit_path);
  const std::lock_guard lock(mutex);
  std::shared_ptr<const LightGbmApi>& api = loaded[library.path()];
  if (api == nullptr) api.reset(new LightGbmApi(std::move(library)));
  return api;
}

LightGbmApi::LightGbmApi(SharedLibrary library) : library_(std::move(library)) {
  // The library tells no version. Parameter aliases can be asked for since 4.0, so this function
  // comes first: an older library is named by the lack of it.
  library_.Bind("LGBM_DumpParamAliases", DumpParamAliases);
  library_.Bind("LGBM_GetLastError", GetLastError);

  library_.Bind("LGBM_DatasetCreateFromMat", DatasetCreateFromMat);
  library_.Bind("LGBM_DatasetCreateFromCSR", DatasetCreateFromCSR);
  library_.Bind("LGBM_DatasetGetSubset", DatasetGetSubset);
  library_.Bind("LGBM_DatasetSetField", DatasetSetField);
  library_.Bind("LGBM_DatasetGetField", DatasetGetField);
  library_.Bind("LGBM_DatasetGetNumData", DatasetGetNumData);
  library_.Bind("LGBM_DatasetGetNumFeature", DatasetGetNumFeature);
  library_.Bind("LGBM_DatasetSetFeatureNames", DatasetSetFeatureNames);
  library_.Bind("LGBM_DatasetFree", DatasetFree);

  library_.Bind("LGBM_BoosterCreate", BoosterCreate);
  library_.Bind("LGBM_BoosterFree", BoosterFree);
  library_.Bind("LGBM_BoosterAddValidData", BoosterAddValidData);
  library_.Bind("LGBM_BoosterUpdateOneIter", BoosterUpdateOneIter);
  library_.Bind("LGBM_BoosterUpdateOneIterCustom", BoosterUpdateOneIterCustom);
  library_.Bind("LGBM_BoosterMerge", BoosterMerge);
  library_.Bind("LGBM_BoosterRollbackOneIter", BoosterRollbackOneIter);
  library_.Bind("LGBM_BoosterGetCurrentIteration", BoosterGetCurrentIteration);
  library_.Bind("LGBM_BoosterGetNumPredict", BoosterGetNumPredict);
  library_.Bind("LGBM_BoosterGetPredict", BoosterGetPredict);
  library_.Bind("LGBM_BoosterSaveModelToString", BoosterSaveModelToString);
  library_.Bind("LGBM_BoosterLoadModelFromString", BoosterLoadModelFromString);
  library_.Bind("LGBM_BoosterPredictForMat", BoosterPredictForMat);
  library_.Bind("LGBM_BoosterPredictForCSR", BoosterPredictForCsr);
  library_.Bind("LGBM_BoosterGetNumFeature", BoosterGetNumFeature);
  library_.Bind("LGBM_BoosterGetNumClasses", BoosterGetNumClasses);
}

void LightGbmApi::Check(int status, const char* doing) const {
  if (status == 0) return;
  throw std::runtime_error(fmt::format("LightGBM, {}: {}", doing, GetLastError()));
}

}  // namespace bregboost::detail
