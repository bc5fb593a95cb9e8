// The order of the distinct values of a column.
#pragma once

#include <string>
#include <vector>

namespace bregboost::detail {

// In numeric order if all of them are finite numbers, else in byte order.
void SortLevels(std::vector<std::string>& levels);

}  // namespace bregboost::detail
