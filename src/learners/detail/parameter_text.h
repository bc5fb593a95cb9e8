// Library parameters are text under several names; this reads them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "bregboost/learners/boosted_options.h"

namespace bregboost::detail {

struct ParameterText {
  std::string name;  // as the user wrote it
  std::string value;
};

// The parameter under the first of `names` that is given. Two names of one parameter with different
// values are refused.
std::optional<ParameterText> FindParameter(const GbmParameters& parameters,
                                           std::initializer_list<const char*> names);

// Throw std::invalid_argument naming the parameter.
std::int64_t ToInteger(const ParameterText& parameter);
double ToDouble(const ParameterText& parameter);
bool ToBool(const ParameterText& parameter);  // true/false, 1/0, +/-, any case

}  // namespace bregboost::detail
