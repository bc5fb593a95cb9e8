// How deep JSON of files may be nested.
#pragma once

#include <cstddef>
#include <string_view>

namespace bregboost::detail {

// Far deeper than anything that is written here. Values of nlohmann-json are printed, copied and
// compared by recursion, which a deeper text could drive beyond the stack.
inline constexpr std::size_t kMaxJsonDepth = 100;

// Throws std::invalid_argument naming the field if more lists and objects than that are open at
// once in `json`, which need not be JSON.
void CheckJsonDepth(const char* field, std::string_view json);

}  // namespace bregboost::detail
