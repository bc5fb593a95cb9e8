#include "problem/detail/rate_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "bregboost/problem/parser.h"
#include "problem/detail/text.h"

namespace bregboost::detail {
namespace {

constexpr std::size_t kMaxShownBytes = 40;

// In the order of RateKind, so that a kind is its own index. The rates that are defined by a label
// (fnr, ...) or average over labels take no class.
constexpr std::array<RateTraits, 12> kRates = {{
    {RateKind::kError, "error", /*takes_class=*/true, /*takes_predicted=*/false},
    {RateKind::kAccuracy, "accuracy", true, false},
    {RateKind::kBalancedError, "balanced_error", false, false},
    {RateKind::kLoss, "loss", true, false},
    {RateKind::kDisagreement, "disagreement", true, false},
    {RateKind::kSelectionRate, "selection_rate", true, true},
    {RateKind::kRecall, "recall", true, false},
    {RateKind::kPrecision, "precision", false, true},
    {RateKind::kFnr, "fnr", false, false},
    {RateKind::kFpr, "fpr", false, false},
    {RateKind::kTpr, "tpr", false, false},
    {RateKind::kTnr, "tnr", false, false},
}};

constexpr std::array<std::pair<std::string_view, RateKind>, 6> kAliases = {{
    {"churn", RateKind::kDisagreement},
    {"disagrees", RateKind::kDisagreement},
    {"selected", RateKind::kSelectionRate},
    {"misses", RateKind::kFnr},
    {"sensitivity", RateKind::kTpr},
    {"specificity", RateKind::kTnr},
}};

constexpr std::array<std::pair<std::string_view, Aggregate>, 4> kAggregates = {{
    {"gap", Aggregate::kGap},
    {"ratio", Aggregate::kRatio},
    {"max", Aggregate::kMax},
    {"min", Aggregate::kMin},
}};

std::vector<std::string> RateNames() {
  std::vector<std::string> names;
  for (const RateTraits& rate : kRates) names.emplace_back(rate.name);
  return names;
}

}  // namespace

const RateTraits& Traits(RateKind kind) { return kRates.at(static_cast<std::size_t>(kind)); }

std::optional<RateKind> FindRate(std::string_view word) {
  for (const RateTraits& rate : kRates) {
    if (rate.name == word) return rate.kind;
  }
  for (const auto& [alias, kind] : kAliases) {
    if (alias == word) return kind;
  }
  return std::nullopt;
}

std::string_view Word(Aggregate aggregate) {
  for (const auto& [word, known] : kAggregates) {
    if (known == aggregate) return word;
  }
  return {};
}

Aggregate FindAggregate(std::string_view word) {
  for (const auto& [known, aggregate] : kAggregates) {
    if (known == word) return aggregate;
  }
  return Aggregate::kNone;
}

std::string UnknownRateMessage(std::string_view word) {
  const std::vector<std::string> names = RateNames();
  std::vector<std::string> words = names;
  for (const auto& [alias, kind] : kAliases) words.emplace_back(alias);
  for (const auto& [aggregate_word, aggregate] : kAggregates) words.emplace_back(aggregate_word);

  std::string hint;
  for (const std::string& near : NearestNames(word, words)) {
    hint += fmt::format("{}'{}'", hint.empty() ? " did you mean " : " or ", near);
  }
  if (!hint.empty()) hint += '?';
  return fmt::format("unknown rate '{}';{} known rates: {}", Shortened(word, kMaxShownBytes), hint,
                     Joined(names));
}

}  // namespace bregboost::detail
