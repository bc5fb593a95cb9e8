// Where the user's Python imports packages from.
#pragma once

#include <string>
#include <vector>

namespace bregboost::detail {

// sys.path of the `python3` on PATH, without the working directory; empty where there is none or it
// does not answer. Starts it once per value of PATH.
std::vector<std::string> PythonSearchPath();

}  // namespace bregboost::detail
