// Text inside HTML: whatever a column, class or file is called, it is shown and never run.
#pragma once

#include <string>
#include <string_view>

namespace bregboost::detail {

// For element contents and quoted attributes.
std::string Escaped(std::string_view text);

// JSON for a <script type="application/json">: no `<` is left that could end it or begin a comment.
std::string EscapedJson(std::string_view json);

// A constraint or a name in code type.
std::string Code(std::string_view text);

}  // namespace bregboost::detail
