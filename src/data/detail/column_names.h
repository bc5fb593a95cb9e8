// What to say when a column is not there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bregboost::detail {

// "'rows.csv' has no column 'agee'; did you mean 'age'?" or, if no name is near, "...; allowed: "
// and the first of those that exist.
std::string NoColumn(std::string_view source, std::string_view name,
                     const std::vector<std::string>& known);

}  // namespace bregboost::detail
