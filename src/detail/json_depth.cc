#include "detail/json_depth.h"

#include <fmt/format.h>

#include <stdexcept>

namespace bregboost::detail {

void CheckJsonDepth(const char* field, std::string_view json) {
  std::size_t depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    } else if (c == '[' || c == '{') {
      if (++depth <= kMaxJsonDepth) continue;
      throw std::invalid_argument(fmt::format(
          "{}: lists or objects nested {} deep; allowed: at most {}", field, depth, kMaxJsonDepth));
    }
  }
}

}  // namespace bregboost::detail
