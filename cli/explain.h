// Constraints in plain words.
#pragma once

#include <string>

#include "bregboost/problem/constraint.h"

namespace bregboost::cli {

// One sentence: "at most 5% of rows of the positive class are predicted otherwise".
std::string Explain(const Constraint& constraint);

}  // namespace bregboost::cli
