// Exports models for tests/python: reads a request as JSON on standard input and writes the
// finished model to its "output" file.
//
//   {"library": "lightgbm", "output": "plain.txt",
//    "parts": [{"file": "fold_0.txt", "weight": 1.0, "round_weights": [1, 0.5], "start": [0.1]}],
//    "objective": "binary", "num_scores": 1, "inverse_temperature": 0.8, "offsets": [0.3],
//    "huber_delta": 1.0}
//
// All but "library", "output", "parts", "file" and "objective" may be left out.
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "bregboost/model/tree_model.h"

namespace {

using bregboost::ExportSpec;
using bregboost::ModelObjective;
using bregboost::ModelPart;
using nlohmann::json;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::invalid_argument("cannot read '" + path + "'");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

ModelObjective ObjectiveNamed(const std::string& name) {
  for (const ModelObjective objective : {ModelObjective::kBinary, ModelObjective::kMulticlass,
                                         ModelObjective::kRegression, ModelObjective::kHuber}) {
    if (Name(objective) == name) return objective;
  }
  throw std::invalid_argument("objective: '" + name + "'");
}

void Run(const json& request) {
  std::vector<std::string> texts;
  for (const json& part : request.at("parts")) texts.push_back(ReadFile(part.at("file")));
  std::vector<ModelPart> parts;
  for (const json& part : request.at("parts")) {
    parts.push_back({.text = texts[parts.size()],
                     .weight = part.value("weight", 1.0),
                     .round_weights = part.value("round_weights", std::vector<double>()),
                     .start = part.value("start", std::vector<double>())});
  }
  const ExportSpec spec{.objective = ObjectiveNamed(request.at("objective")),
                        .num_scores = request.value("num_scores", std::size_t{1}),
                        .inverse_temperature = request.value("inverse_temperature", 1.0),
                        .offsets = request.value("offsets", std::vector<double>()),
                        .huber_delta = request.value("huber_delta", 1.0)};
  const std::string library = request.at("library");
  const std::string model =
      library == "lightgbm" ? ExportLightGbm(parts, spec) : ExportXgboost(parts, spec);
  std::ofstream output(request.at("output").get<std::string>(), std::ios::binary);
  output << model;
  if (!output.flush()) throw std::runtime_error("cannot write the output");
}

}  // namespace

int main() {
  try {
    Run(json::parse(std::cin));
  } catch (const std::exception& error) {
    std::cerr << "export_model: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
