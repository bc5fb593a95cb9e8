// Writes checkpoints of the trainings that are fuzzed: `checkpoint_seeds
// tests/fuzz/corpus/checkpoint`.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "checkpoint_trainings.h"
#include "learners/detail/checkpoint_file.h"

int main(int argc, char** argv) {
  using namespace bregboost;  // NOLINT: a program
  namespace fs = std::filesystem;
  if (argc != 2) {
    std::fputs("usage: checkpoint_seeds FOLDER\n", stderr);
    return 2;
  }
  const fs::path folder = argv[1];
  const CheckpointOptions options{.directory = (folder / "training").string(), .every = 2};
  const std::string file = CheckpointPath(options);
  const auto write = [&](const std::string& name, std::size_t kind, const std::string& bytes) {
    std::ofstream(folder / (name + ".bin"), std::ios::binary) << static_cast<char>(kind) << bytes;
  };
  for (std::size_t kind = 0; kind < fuzz::kTrainingNames.size(); ++kind) {
    fuzz::MakeCheckpointTraining(kind)->Run(options);
    write(fuzz::kTrainingNames[kind], kind, detail::ReadCheckpoint(file).value());
    if (kind == 0) {
      std::ifstream stream(file, std::ios::binary);
      write("file", fuzz::kTrainingNames.size(),
            std::string(std::istreambuf_iterator<char>(stream), {}));
    }
    fs::remove_all(options.directory);
  }
  return 0;
}
