#include "run_folder.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bregboost/problem/parser.h"
#include "failure.h"

namespace bregboost::cli {
namespace {

namespace fs = std::filesystem;

// Null where there is nothing to say, such as the positive one of several classes.
std::string TextOrNone(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? "" : found->get<std::string>();
}

}  // namespace

std::string ReadWholeFile(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    throw Failure(ExitCode::kData, fmt::format("'{}': no such file", path));
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!fs::is_directory(path, error)) text << file.rdbuf();
  if (!file || !text) throw Failure(ExitCode::kData, fmt::format("'{}': cannot be read", path));
  return text.str();
}

RunFolder ParseRun(const std::string& text, const std::string& path) {
  RunFolder run;
  try {
    run.document = ParseRunDocument(text);
    if (run.document.encoding.empty()) throw std::invalid_argument("encoding: null");
    run.encoding = ColumnEncodingFromJson(run.document.encoding);
    const auto fit = nlohmann::json::parse(run.document.fit);
    for (const auto& constraint : fit.at("constraints")) {
      run.constraints.push_back(ParseConstraint(constraint.at("text").get<std::string>()));
    }
    run.objective = TextOrNone(fit, "objective_name");
    run.positive = TextOrNone(fit, "positive_class");
  } catch (const std::invalid_argument& error) {
    throw Failure(ExitCode::kData, fmt::format("'{}': {}", path, error.what()));
  } catch (const nlohmann::json::exception& error) {
    throw Failure(ExitCode::kData, fmt::format("'{}': fit: {}", path, error.what()));
  }
  return run;
}

RunFolder ReadRunFolder(const std::string& folder) {
  const std::string path = (fs::path(folder) / "bregboost.json").string();
  return ParseRun(ReadWholeFile(path), path);
}

StoredModel ReadModel(const std::string& folder, const RunFolder& run, const std::string& library) {
  const std::string& learner = run.document.settings.learner;
  const auto file = [&](const char* name) { return (fs::path(folder) / name).string(); };
  const auto load = [&](const std::string& path, const auto& read) {
    const std::string text = ReadWholeFile(path);
    try {
      if (run.document.model) CheckContents(*run.document.model, text);
      return read(text);
    } catch (const std::invalid_argument& error) {
      throw Failure(ExitCode::kData, fmt::format("'{}': {}", path, error.what()));
    }
  };
  if (learner == "lightgbm") {
    return load(file("model.txt"),
                [&](const std::string& text) { return StoredModel::LightGbm(text, library); });
  }
  if (learner == "xgboost") {
    return load(file("model.ubj"),
                [&](const std::string& bytes) { return StoredModel::Xgboost(bytes, library); });
  }
  if (learner == "linear") {
    return load(file("model.json"),
                [](const std::string& text) { return StoredModel::Linear(text); });
  }
  throw Failure(ExitCode::kData, fmt::format("'{}': settings.learner: '{}'; allowed: lightgbm, "
                                             "xgboost, linear",
                                             file("bregboost.json"), learner));
}

}  // namespace bregboost::cli
