// The files of src/report/assets, inside the library; cmake/EmbedFiles.cmake writes the source.
#pragma once

#include <string>
#include <string_view>

namespace bregboost::detail {

std::string ReportAsset(std::string_view name);  // by its path below assets/; throws if unknown
// Of all of them: what only the scripts of this build know, for the page's security policy.
std::string_view ReportAssetsDigest();

}  // namespace bregboost::detail
