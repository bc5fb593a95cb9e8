// What both tree learners take.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace bregboost {

// The library's own parameters under any of its names and aliases, values as text. They reach the
// library untouched, save for the objective, which is bregboost's to compute.
using GbmParameters = std::map<std::string, std::string>;

struct BoostedOptions {
  GbmParameters parameters = {};
  std::int64_t rounds_per_step = 1;  // boosting rounds of one proximal step; >= 1
  // Stop when the loss on the first held-out set has not fallen for this many rounds, and go back
  // to the best round; 0: never. The library's own parameter for it, if given, wins.
  std::int64_t early_stopping_rounds = 0;

  bool operator==(const BoostedOptions&) const = default;
};

}  // namespace bregboost
