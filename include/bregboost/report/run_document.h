// bregboost.json: what a run leaves beside its model, and all that the HTML report is made from.
//
//   {"format": "bregboost run", "version": 1, "title": text,
//    "fit": what ToJson(FitReport) or ToJson(PaperReport) writes,
//    "unconstrained": null, or the same learner without limits on the same unseen rows, as
//        ToJson(UnlimitedDecision) writes it,
//    "frontier": null, or what ToJson(Frontier) writes,
//    "data": null, or {"file", "label", "rows", "features": [names], "groups": [names],
//        "weight": null or a name},
//    "encoding": null, or an object: how columns became numbers, for those who predict,
//    "settings": {"learner", "parameters": {name: text}, "options": {name: any}, "seed"},
//    "model": null, or the file beside it: {"file": its name, without a folder, "bytes", "crc32"},
//    "versions": {"bregboost": text, library: text, ...}}
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bregboost {

struct RunData {
  std::string file, label;
  std::uint64_t rows = 0;
  std::vector<std::string> features = {}, groups = {};
  std::optional<std::string> weight = std::nullopt;

  bool operator==(const RunData&) const = default;
};

struct RunSettings {
  std::string learner;
  std::map<std::string, std::string> parameters = {};  // of the library, as text
  std::string options = "{}";                          // JSON, an object: whatever else was chosen
  std::uint64_t seed = 0;

  bool operator==(const RunSettings&) const = default;
};

// What tells a model file from a damaged one.
struct RunModel {
  std::string file;
  std::uint64_t bytes = 0;
  std::uint64_t crc32 = 0;

  bool operator==(const RunModel&) const = default;
};
RunModel DescribeModel(std::string file, std::string_view contents);
// Throws std::invalid_argument unless these are the contents that were described.
void CheckContents(const RunModel& model, std::string_view contents);

// Parts that other headers turn into JSON are kept as JSON; an empty text stands for null.
struct RunDocument {
  std::string title;
  std::string fit;
  std::string unconstrained = {};
  std::string frontier = {};
  std::optional<RunData> data = std::nullopt;
  std::string encoding = {};
  RunSettings settings = {};
  std::optional<RunModel> model = std::nullopt;
  std::map<std::string, std::string> versions = {};

  bool operator==(const RunDocument&) const = default;
};

// Throws std::invalid_argument for a part that is not JSON of the kind above.
std::string ToJson(const RunDocument& document);

// Reads back what ToJson wrote; parts come out as nlohmann-json prints them, keys sorted. Throws
// std::invalid_argument naming the field, such as "settings.seed: -1; allowed: ...", for anything
// that is missing or of another type. A part that is not needed may be absent in place of null.
RunDocument ParseRunDocument(std::string_view text);

}  // namespace bregboost
