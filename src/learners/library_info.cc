#include "bregboost/learners/library_info.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "learners/detail/lightgbm_api.h"
#include "learners/detail/xgboost_api.h"

namespace bregboost {
namespace {

namespace fs = std::filesystem;

// LightGBM's C functions do not tell; a wheel keeps `lightgbm-4.7.0.dist-info` beside the package.
std::string WheelVersion(const std::string& library, const std::string& package) {
  const std::string prefix = package + "-", suffix = ".dist-info";
  std::error_code error;
  const fs::path packages = fs::path(library).parent_path().parent_path().parent_path();
  for (const auto& entry : fs::directory_iterator(packages, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(suffix)) {
      return name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    }
  }
  return "unknown";
}

}  // namespace

LibraryInfo FindLightGbm(const std::string& library) {
  const auto api = detail::LightGbmApi::Load(library);
  return {
      .name = "lightgbm", .version = WheelVersion(api->path(), "lightgbm"), .path = api->path()};
}

LibraryInfo FindXgboost(const std::string& library) {
  const auto api = detail::XgboostApi::Load(library);
  const auto& version = api->version();
  return {.name = "xgboost",
          .version = fmt::format("{}.{}.{}", version.major, version.minor, version.patch),
          .path = api->path()};
}

}  // namespace bregboost
