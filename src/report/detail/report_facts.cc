#include "report/detail/report_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "report/detail/report_numbers.h"

namespace bregboost::detail {
namespace {

// null where the key is lacking, or where `object` is none.
const Json& At(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

// The entry about this limit: the one at its place if the texts agree, else the first that does.
const Json& EntryOf(const Json& list, std::size_t place, const std::string& text) {
  static const Json kNull;
  if (place < list.size() && TextAt(list[place], "text") == text) return list[place];
  for (const Json& entry : list) {
    if (TextAt(entry, "text") == text) return entry;
  }
  return kNull;
}

std::pair<Number, Number> IntervalOf(const Json& entry) {
  const Json& interval = ListAt(entry, "interval");
  if (interval.size() != 2 || !interval[0].is_number() || !interval[1].is_number()) return {};
  return {interval[0].get<double>(), interval[1].get<double>()};
}

void ReadMeasured(const Json& measured, const Json& unlimited, LimitFacts& limit) {
  limit.percent = InPercent(limit.text);
  limit.at_most = TextAt(measured, "relation") != ">=";
  limit.bound = NumberAt(measured, "bound");
  limit.value = NumberAt(measured, "value");
  limit.violation = NumberAt(measured, "violation");
  limit.rows = CountAt(measured, "rows");
  limit.small = FlagAt(measured, "small");
  std::tie(limit.low, limit.high) = IntervalOf(measured);
  limit.holds = FlagAt(measured, "satisfied") && limit.value.has_value();
  limit.unlimited = NumberAt(unlimited, "value");
  const Json& before = ListAt(unlimited, "groups");
  for (const Json& entry : ListAt(measured, "groups")) {
    GroupRate group{.group = TextAt(entry, "group"), .value = NumberAt(entry, "value")};
    group.rows = CountAt(entry, "rows");
    group.small = FlagAt(entry, "small");
    std::tie(group.low, group.high) = IntervalOf(entry);
    const auto same = std::find_if(before.begin(), before.end(), [&](const Json& other) {
      return TextAt(other, "group") == group.group;
    });
    if (same != before.end()) group.unlimited = NumberAt(*same, "value");
    limit.groups.push_back(std::move(group));
  }
}

void ReadVerdict(const Json& verdict, LimitFacts& limit) {
  limit.verdict = TextAt(verdict, "verdict");
  limit.confidence_bound = NumberAt(verdict, "confidence_bound");
  limit.other_bound = NumberAt(verdict, "other_bound");
  limit.confidence = NumberAt(verdict, "confidence");
  limit.certified_rows = CountAt(verdict, "rows");
}

void Judge(bool on_training_rows, LimitFacts& limit) {
  limit.mood = limit.holds ? Mood::kOpen : Mood::kBad;
  if (!limit.value) {
    limit.word = "Undefined";
  } else if (limit.verdict == "certified") {
    limit.mood = Mood::kGood;
    limit.word = "Certified";
  } else if (limit.verdict == "violated") {
    limit.mood = Mood::kBad;
    limit.word = "Violated";
  } else if (limit.verdict == "not certified") {
    limit.word = "Not certified";
  } else if (on_training_rows) {
    limit.word = limit.holds ? "Holds in training" : "Broken in training";
  } else {
    limit.word = limit.holds ? "Estimated to hold" : "Estimated to be broken";
  }
}

}  // namespace

Number NumberAt(const Json& object, const char* key) {
  const Json& value = At(object, key);
  return value.is_number() ? Number(value.get<double>()) : std::nullopt;
}

Count CountAt(const Json& object, const char* key) {
  const Json& value = At(object, key);
  return value.is_number_integer() ? Count(value.get<std::int64_t>()) : std::nullopt;
}

std::string TextAt(const Json& object, const char* key) {
  const Json& value = At(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool FlagAt(const Json& object, const char* key) {
  const Json& value = At(object, key);
  return value.is_boolean() && value.get<bool>();
}

const Json& ListAt(const Json& object, const char* key) {
  static const Json kEmpty = Json::array();
  const Json& value = At(object, key);
  return value.is_array() ? value : kEmpty;
}

ReportFacts FactsOf(RunDocument document) {
  ReportFacts facts;
  facts.document = std::move(document);
  const auto part = [](const std::string& text) {
    return text.empty() ? Json() : Json::parse(text);
  };
  facts.fit = part(facts.document.fit);
  facts.unconstrained = part(facts.document.unconstrained);
  facts.frontier = part(facts.document.frontier);

  const std::string name = TextAt(facts.fit, "objective_name");
  facts.objective = name.empty() ? "objective" : name;
  facts.maximise = !facts.fit.contains("maximise") || FlagAt(facts.fit, "maximise");
  facts.objective_percent = facts.objective.find("loss") == std::string::npos;
  facts.objective_value = NumberAt(facts.fit, "objective");
  facts.unlimited_objective = NumberAt(facts.unconstrained, "objective");
  facts.on_training_rows = TextAt(facts.fit, "validation") == "none";
  facts.measured_rows =
      CountAt(At(facts.fit, "rows"), facts.on_training_rows ? "training" : "unseen");

  const Json& measured = ListAt(facts.fit, "constraints");
  for (std::size_t c = 0; c < measured.size(); ++c) {
    LimitFacts limit{.place = c, .text = TextAt(measured[c], "text")};
    ReadMeasured(measured[c], EntryOf(ListAt(facts.unconstrained, "constraints"), c, limit.text),
                 limit);
    ReadVerdict(EntryOf(ListAt(facts.fit, "certificate"), c, limit.text), limit);
    const Json& price = EntryOf(ListAt(facts.fit, "prices"), c, limit.text);
    limit.price = NumberAt(price, "price");
    limit.price_error = NumberAt(price, "standard_error");
    limit.binding = FlagAt(price, "binding");
    Judge(facts.on_training_rows, limit);
    if (!limit.verdict.empty() && limit.verdict != "estimated") {
      facts.certifies = true;
      facts.confidence = limit.confidence;
    }
    facts.limits.push_back(std::move(limit));
  }
  facts.all_certified = FlagAt(facts.fit, "all_certified") && !facts.limits.empty() &&
                        facts.NumberOf(Mood::kGood) == facts.limits.size();
  return facts;
}

std::string ReportFacts::MeasuredOn() const {
  const char* rows = on_training_rows ? "training rows" : "unseen rows";
  return measured_rows ? fmt::format("{} {}", CountText(measured_rows), rows) : rows;
}

std::size_t ReportFacts::NumberOf(Mood mood) const {
  return static_cast<std::size_t>(std::count_if(
      limits.begin(), limits.end(), [&](const LimitFacts& limit) { return limit.mood == mood; }));
}

std::size_t ReportFacts::NumberHeld() const {
  return static_cast<std::size_t>(std::count_if(
      limits.begin(), limits.end(), [](const LimitFacts& limit) { return limit.holds; }));
}

std::vector<const LimitFacts*> ReportFacts::WorstFirst() const {
  const auto severity = [](const LimitFacts& limit) {
    return limit.mood == Mood::kBad ? 0 : limit.mood == Mood::kOpen ? 1 : 2;
  };
  // Undefined is worse than any violation.
  const auto excess = [](const LimitFacts& limit) {
    if (!limit.value || !limit.bound) return std::numeric_limits<double>::infinity();
    return limit.at_most ? *limit.value - *limit.bound : *limit.bound - *limit.value;
  };
  std::vector<const LimitFacts*> sorted;
  for (const LimitFacts& limit : limits) sorted.push_back(&limit);
  std::stable_sort(sorted.begin(), sorted.end(), [&](const LimitFacts* a, const LimitFacts* b) {
    if (severity(*a) != severity(*b)) return severity(*a) < severity(*b);
    return excess(*a) > excess(*b);
  });
  return sorted;
}

}  // namespace bregboost::detail
