// Runs a fuzz target on the files of its corpus: `<target> FILE_OR_FOLDER...`. Where there is no
// libFuzzer, which brings a main() of its own.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz_target.h"

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> FilesOf(const fs::path& place) {
  if (!fs::is_directory(place)) return {place};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(place)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// False if the file cannot be read, or if an exception leaves the target.
bool Replay(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  // Of its exact size, so that sanitizers see reads beyond the end.
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    return false;
  }
  try {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), error.what());
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t num_files = 0, num_failed = 0;
  for (int i = 1; i < argc; ++i) {
    for (const fs::path& file : FilesOf(argv[i])) {
      ++num_files;
      if (!Replay(file)) ++num_failed;
    }
  }
  std::printf("%zu files, %zu failed\n", num_files, num_failed);
  return num_files > 0 && num_failed == 0 ? 0 : 1;
}
