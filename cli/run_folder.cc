#include "run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
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

std::string FileIn(const std::string& folder, const std::string& name) {
  const fs::path path = fs::path(folder) / name;
  std::error_code error;
  const fs::path real_folder = fs::canonical(folder, error),
                 real = fs::weakly_canonical(path, error);
  const auto [end, rest] =
      std::mismatch(real_folder.begin(), real_folder.end(), real.begin(), real.end());
  if (!error && end != real_folder.end()) {
    throw Failure(ExitCode::kData,
                  fmt::format("'{}': a link to '{}'; allowed: a file of the folder", path.string(),
                              real.string()));
  }
  return path.string();
}

std::string ReadWholeFile(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    throw Failure(ExitCode::kData, fmt::format("'{}': no such file", path));
  }
  std::ifstream file;
  std::ostringstream text;
  if (fs::is_regular_file(path, error)) {
    file.open(path, std::ios::binary);
    text << file.rdbuf();
  }
  if (!file.is_open() || !file || !text) {
    throw Failure(ExitCode::kData, fmt::format("'{}': cannot be read", path));
  }
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
  const std::string path = FileIn(folder, "bregboost.json");
  return ParseRun(ReadWholeFile(path), path);
}

StoredModel ReadModel(const std::string& folder, const RunFolder& run, const std::string& library) {
  const std::string& learner = run.document.settings.learner;
  const std::string document = (fs::path(folder) / "bregboost.json").string();
  const auto load = [&](const std::string& name, const auto& read) {
    const std::optional<RunModel>& described = run.document.model;
    if (described && described->file != name) {
      throw Failure(ExitCode::kData,
                    fmt::format("'{}': model.file: '{}'; allowed for the learner {}: {}", document,
                                described->file, learner, name));
    }
    const std::string path = FileIn(folder, name);
    const std::string text = ReadWholeFile(path);
    try {
      if (described) CheckContents(*described, text);
      return read(text);
    } catch (const std::invalid_argument& error) {
      throw Failure(ExitCode::kData, fmt::format("'{}': {}", path, error.what()));
    }
  };
  if (learner == "lightgbm") {
    return load("model.txt",
                [&](const std::string& text) { return StoredModel::LightGbm(text, library); });
  }
  if (learner == "xgboost") {
    return load("model.ubj",
                [&](const std::string& bytes) { return StoredModel::Xgboost(bytes, library); });
  }
  if (learner == "linear") {
    return load("model.json", [](const std::string& text) { return StoredModel::Linear(text); });
  }
  throw Failure(ExitCode::kData, fmt::format("'{}': settings.learner: '{}'; allowed: lightgbm, "
                                             "xgboost, linear",
                                             document, learner));
}

}  // namespace bregboost::cli
