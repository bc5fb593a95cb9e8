#include "bregboost/report/run_document.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "detail/checksum.h"
#include "detail/json_depth.h"

namespace bregboost {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "bregboost run";
constexpr int kVersion = 1;

[[noreturn]] void Refuse(const std::string& field, const std::string& found,
                         const std::string& allowed) {
  throw std::invalid_argument(fmt::format("{}: {}; allowed: {}", field, found, allowed));
}

// As much of a value as fits into a message.
std::string Shown(const json& value) {
  constexpr std::size_t kMost = 60;
  std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true);
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

// A place in the document, which knows its name.
class Field {
 public:
  Field(const json& value, std::string name) : value_(value), name_(std::move(name)) {}

  Field At(const char* key) const {
    const std::string name = name_.empty() ? key : fmt::format("{}.{}", name_, key);
    static const json kNull;
    const auto found = value_.find(key);
    return {found == value_.end() ? kNull : *found, name};
  }

  bool IsNull() const { return value_.is_null(); }

  std::string Text() const {
    if (!value_.is_string()) Refuse(name_, Shown(value_), "a text");
    return value_.get<std::string>();
  }

  // Of a file beside the document: whoever wrote it does not choose what else is read.
  std::string PlainName() const {
    const std::string name = Text();
    const bool leads_elsewhere = name.empty() || name == "." || name == ".." ||
                                 name.find_first_of(std::string_view("/\\\0", 3)) != name.npos;
    if (leads_elsewhere) Refuse(name_, Shown(value_), "the name of a file, without a folder");
    return name;
  }

  std::uint64_t Count() const {
    if (!value_.is_number_unsigned()) Refuse(name_, Shown(value_), "an integer of 0 or more");
    return value_.get<std::uint64_t>();
  }

  std::vector<std::string> Texts() const {
    if (!value_.is_array()) Refuse(name_, Shown(value_), "a list of texts");
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < value_.size(); ++i) {
      texts.push_back(Field(value_[i], fmt::format("{}[{}]", name_, i)).Text());
    }
    return texts;
  }

  std::map<std::string, std::string> TextsByName() const {
    RequireObject();
    std::map<std::string, std::string> texts;
    for (const auto& [key, value] : value_.items()) {
      texts[key] = Field(value, fmt::format("{}.{}", name_, key)).Text();
    }
    return texts;
  }

  const Field& RequireObject() const {
    if (!value_.is_object()) Refuse(name_, Shown(value_), "an object");
    return *this;
  }

  // An object as JSON, or an empty text for null.
  std::string ObjectOrNothing() const { return IsNull() ? "" : RequireObject().value_.dump(); }

  // One of the parts that other headers write: an object with this list in it.
  std::string Part(const char* list) const {
    RequireObject();
    const Field found = At(list);
    if (!found.value_.is_array()) Refuse(found.name_, Shown(found.value_), "a list");
    return value_.dump();
  }

 private:
  const json& value_;
  std::string name_;
};

json Parsed(const char* field, const std::string& text) {
  if (text.empty()) return nullptr;
  detail::CheckJsonDepth(field, text);
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) Refuse(field, text.substr(0, 60), "JSON, an object");
  return value;
}

RunData DataOf(const Field& field) {
  field.RequireObject();
  RunData data{.file = field.At("file").Text(),
               .label = field.At("label").Text(),
               .rows = field.At("rows").Count(),
               .features = field.At("features").Texts(),
               .groups = field.At("groups").Texts()};
  const Field weight = field.At("weight");
  if (!weight.IsNull()) data.weight = weight.Text();
  return data;
}

}  // namespace

RunModel DescribeModel(std::string file, std::string_view contents) {
  return {.file = std::move(file), .bytes = contents.size(), .crc32 = detail::Checksum(contents)};
}

void CheckContents(const RunModel& model, std::string_view contents) {
  if (contents.size() != model.bytes) {
    Refuse("model", fmt::format("{} bytes", contents.size()),
           fmt::format("{}, as when it was written", model.bytes));
  }
  if (detail::Checksum(contents) != model.crc32) {
    Refuse("model", "another checksum", "the one that it was written with");
  }
}

std::string ToJson(const RunDocument& document) {
  json data, model;
  if (document.model) {
    model = {{"file", document.model->file},
             {"bytes", document.model->bytes},
             {"crc32", document.model->crc32}};
  }
  if (document.data) {
    data = {{"file", document.data->file},     {"label", document.data->label},
            {"rows", document.data->rows},     {"features", document.data->features},
            {"groups", document.data->groups}, {"weight", nullptr}};
    if (document.data->weight) data["weight"] = *document.data->weight;
  }
  const json result = {{"format", kFormat},
                       {"version", kVersion},
                       {"title", document.title},
                       {"fit", Parsed("fit", document.fit)},
                       {"unconstrained", Parsed("unconstrained", document.unconstrained)},
                       {"frontier", Parsed("frontier", document.frontier)},
                       {"data", data},
                       {"encoding", Parsed("encoding", document.encoding)},
                       {"settings",
                        {{"learner", document.settings.learner},
                         {"parameters", document.settings.parameters},
                         {"options", Parsed("settings.options", document.settings.options)},
                         {"seed", document.settings.seed}}},
                       {"model", model},
                       {"versions", document.versions}};
  // Names that are not UTF-8 are shown as well as they can be.
  std::string text = result.dump(-1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
  ParseRunDocument(text);  // refuses what nobody could read back
  return text;
}

RunDocument ParseRunDocument(std::string_view text) {
  detail::CheckJsonDepth("document", text);
  const json read = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!read.is_object()) Refuse("document", "no JSON object", "what a run leaves, bregboost.json");
  const Field root(read, "");
  if (root.At("format").IsNull() || root.At("format").Text() != kFormat) {
    Refuse("format", Shown(read.value("format", json())), "\"bregboost run\"");
  }
  if (root.At("version").Count() != kVersion) Refuse("version", Shown(read["version"]), "1");
  RunDocument document{.title = root.At("title").Text(), .fit = root.At("fit").Part("constraints")};
  const Field unconstrained = root.At("unconstrained"), frontier = root.At("frontier");
  if (!unconstrained.IsNull()) document.unconstrained = unconstrained.Part("constraints");
  if (!frontier.IsNull()) document.frontier = frontier.Part("points");
  if (!root.At("data").IsNull()) document.data = DataOf(root.At("data"));
  document.encoding = root.At("encoding").ObjectOrNothing();
  const Field settings = root.At("settings").RequireObject();
  document.settings = {.learner = settings.At("learner").Text(),
                       .parameters = settings.At("parameters").TextsByName(),
                       .options = settings.At("options").RequireObject().ObjectOrNothing(),
                       .seed = settings.At("seed").Count()};
  if (!root.At("model").IsNull()) {
    const Field model = root.At("model").RequireObject();
    document.model = RunModel{.file = model.At("file").PlainName(),
                              .bytes = model.At("bytes").Count(),
                              .crc32 = model.At("crc32").Count()};
  }
  document.versions = root.At("versions").TextsByName();
  return document;
}

}  // namespace bregboost
