#include "learners/detail/xgboost_api.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace bregboost::detail {
namespace {

constexpr XgboostApi::Version kOldest{.major = 2, .minor = 1, .patch = 0};

// Of "[12:34:56] /some/where/file.cc:78: message\nStack trace:\n..." the message: the library's C++
// source lines mean nothing to a user.
std::string_view Essence(std::string_view text) {
  text = text.substr(0, text.find("\nStack trace:"));
  if (const std::size_t source = text.find("] ");
      text.starts_with('[') && source < text.find('\n')) {
    const std::size_t message = text.find(": ", source);
    if (message != std::string_view::npos) text.remove_prefix(message + 2);
  }
  return text.substr(0, text.find_last_not_of(" \n") + 1);
}

}  // namespace

std::shared_ptr<const XgboostApi> XgboostApi::Load(const std::string& explicit_path) {
  static const LibraryNames names = {
      .title = "XGBoost",
      .package = "xgboost",
      .file = "libxgboost.so",
      .environment_variable = "BREGBOOST_XGBOOST",
      .oldest_version = fmt::format("{}.{}", kOldest.major, kOldest.minor),
  };
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const XgboostApi>> loaded;  // by path
  SharedLibrary library = SharedLibrary::Find(names, explicit_path);
  const std::lock_guard lock(mutex);
  std::shared_ptr<const XgboostApi>& api = loaded[library.path()];
  if (api == nullptr) api.reset(new XgboostApi(std::move(library)));
  return api;
}

XgboostApi::XgboostApi(SharedLibrary library) : library_(std::move(library)) {
  library_.Bind("XGBoostVersion", BoostVersion);
  BoostVersion(&version_.major, &version_.minor, &version_.patch);
  if (version_ < kOldest) {
    library_.ThrowUnusable(
        fmt::format("is version {}.{}.{}", version_.major, version_.minor, version_.patch));
  }
  library_.Bind("XGBGetLastError", GetLastError);

  library_.Bind("XGDMatrixCreateFromDense", DMatrixCreateFromDense);
  library_.Bind("XGDMatrixCreateFromCSR", DMatrixCreateFromCSR);
  library_.Bind("XGQuantileDMatrixCreateFromCallback", QuantileDMatrixCreateFromCallback);
  library_.Bind("XGProxyDMatrixCreate", ProxyDMatrixCreate);
  library_.Bind("XGProxyDMatrixSetDataDense", ProxyDMatrixSetDataDense);
  library_.Bind("XGProxyDMatrixSetDataCSR", ProxyDMatrixSetDataCSR);
  library_.Bind("XGDMatrixSetInfoFromInterface", DMatrixSetInfoFromInterface);
  library_.Bind("XGDMatrixSetStrFeatureInfo", DMatrixSetStrFeatureInfo);
  library_.Bind("XGDMatrixGetStrFeatureInfo", DMatrixGetStrFeatureInfo);
  library_.Bind("XGDMatrixGetFloatInfo", DMatrixGetFloatInfo);
  library_.Bind("XGDMatrixNumRow", DMatrixNumRow);
  library_.Bind("XGDMatrixNumCol", DMatrixNumCol);
  library_.Bind("XGDMatrixFree", DMatrixFree);

  library_.Bind("XGBoosterCreate", BoosterCreate);
  library_.Bind("XGBoosterFree", BoosterFree);
  library_.Bind("XGBoosterSetStrFeatureInfo", BoosterSetStrFeatureInfo);
  library_.Bind("XGBoosterSetParam", BoosterSetParam);
  library_.Bind("XGBoosterUpdateOneIter", BoosterUpdateOneIter);
  library_.Bind("XGBoosterTrainOneIter", BoosterTrainOneIter);
  library_.Bind("XGBoosterPredictFromDMatrix", BoosterPredictFromDMatrix);
  library_.Bind("XGBoosterSlice", BoosterSlice);
  library_.Bind("XGBoosterDumpModelEx", BoosterDumpModelEx);
  library_.Bind("XGBoosterSaveModelToBuffer", BoosterSaveModelToBuffer);
  library_.Bind("XGBoosterLoadModelFromBuffer", BoosterLoadModelFromBuffer);
  library_.Bind("XGBoosterGetNumFeature", BoosterGetNumFeature);
  library_.Bind("XGBoosterSaveJsonConfig", BoosterSaveJsonConfig);
}

void XgboostApi::Check(int status, const char* doing) const {
  if (status == 0) return;
  throw std::runtime_error(fmt::format("XGBoost, {}: {}", doing, Essence(GetLastError())));
}

}  // namespace bregboost::detail
