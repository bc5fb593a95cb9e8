// Which stock library is used, for reports and audits.
#pragma once

#include <string>

namespace bregboost {

struct LibraryInfo {
  std::string name;     // "lightgbm", "xgboost"
  std::string version;  // "4.7.0"; "unknown" where neither the library nor its wheel says
  std::string path;     // of the shared library
};

// As the data sets find it: `library` is a path to use in place of the usual search. Throw
// LibraryError.
LibraryInfo FindLightGbm(const std::string& library = {});
LibraryInfo FindXgboost(const std::string& library = {});

}  // namespace bregboost
