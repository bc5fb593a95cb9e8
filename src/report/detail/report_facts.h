// A run document as the page needs it: one record per limit, with everything that is known of it.
// Fields that a document lacks, or has as null, are empty; nothing is required but limits with a
// text.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bregboost/report/run_document.h"

namespace bregboost::detail {

using Json = nlohmann::json;
using Number = std::optional<double>;
using Count = std::optional<std::int64_t>;

// Good: shown to hold. Open: holds as far as known. Bad: does not hold, or is undefined.
enum class Mood { kGood, kOpen, kBad };

struct GroupRate {
  std::string group;
  Number value, low, high;  // low and high: the interval
  Count rows;
  bool small = false;
  Number unlimited;  // of the learner without limits
};

struct LimitFacts {
  std::size_t place = 0;  // among the limits as given
  std::string text;
  bool percent = true;
  bool at_most = true;
  Number bound, value, violation, low, high;
  Count rows;
  bool holds = false;
  bool small = false;
  std::vector<GroupRate> groups;
  Number unlimited;

  std::string verdict;  // of the certificate; empty without one
  Number confidence_bound, other_bound, confidence;
  Count certified_rows;

  Number price, price_error;
  bool binding = false;

  Mood mood = Mood::kOpen;
  std::string word;  // the verdict as the page says it
};

struct ReportFacts {
  Json fit, unconstrained, frontier;  // null where absent
  RunDocument document;
  std::vector<LimitFacts> limits;  // as given

  std::string objective;  // its name
  bool maximise = true;
  bool objective_percent = true;
  Number objective_value, unlimited_objective;

  bool on_training_rows = false;  // the paper's solvers measure nothing else
  Count measured_rows;
  bool certifies = false;  // some verdict is more than an estimate
  bool all_certified = false;
  Number confidence;

  std::string MeasuredOn() const;  // "4,500 unseen rows"
  std::size_t NumberOf(Mood mood) const;
  std::size_t NumberHeld() const;
  // Worst first: bad before open before good, then by how far beyond the bound.
  std::vector<const LimitFacts*> WorstFirst() const;
};

ReportFacts FactsOf(RunDocument document);

// Of an object that may lack the key; null and other types count as lacking.
Number NumberAt(const Json& object, const char* key);
Count CountAt(const Json& object, const char* key);
std::string TextAt(const Json& object, const char* key);
bool FlagAt(const Json& object, const char* key);
const Json& ListAt(const Json& object, const char* key);  // an empty list where lacking

}  // namespace bregboost::detail
