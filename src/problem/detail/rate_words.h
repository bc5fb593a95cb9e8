// The words of the grammar: rates with the arguments they take, aggregates, and what to say about
// a word that is neither.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bregboost/problem/constraint.h"

namespace bregboost::detail {

struct RateTraits {
  RateKind kind;
  std::string_view name;
  bool takes_class;      // the rate may be restricted to the rows of one label
  bool takes_predicted;  // the rate is about one predicted class
};

const RateTraits& Traits(RateKind kind);

// By name or alias.
std::optional<RateKind> FindRate(std::string_view word);

// "gap", "ratio", "max", "min"; empty for kNone.
std::string_view Word(Aggregate aggregate);

// The aggregate of a word, kNone for any other word.
Aggregate FindAggregate(std::string_view word);

// "unknown rate 'fnrr'; did you mean 'fnr'? known rates: error, accuracy, ..."
std::string UnknownRateMessage(std::string_view word);

}  // namespace bregboost::detail
