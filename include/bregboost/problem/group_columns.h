// Which columns of a data set constraints ask for.
#pragma once

#include <string>
#include <vector>

#include "bregboost/problem/constraint.h"

namespace bregboost {

// The columns that constraints name, the label apart, each once, in the order of their first use.
std::vector<std::string> GroupColumns(const std::vector<Constraint>& constraints);

}  // namespace bregboost
