// Checkpoints: a training that is taken up from any bytes goes on to its end, or says that it
// cannot. The first byte of an input tells what the others are: the contents of a checkpoint of one
// of the trainings, for which the target writes the header and the checksum that no fuzzer guesses;
// or a whole file.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "checkpoint_trainings.h"
#include "fuzz_target.h"
#include "learners/detail/checkpoint_file.h"

namespace {

using namespace bregboost;  // NOLINT: a program

// A folder with a checkpoint whose bytes are replaced again and again, which is much quicker than
// to write a file that outlives a crash.
class CheckpointFolder {
 public:
  CheckpointFolder()
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("checkpoint_fuzz_{}", getpid())) {
    std::filesystem::create_directories(path_);
    descriptor_ = open(CheckpointPath(options()).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  }
  ~CheckpointFolder() {
    close(descriptor_);
    std::filesystem::remove_all(path_);
  }
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;

  // To resume from; no further checkpoint is written.
  CheckpointOptions options() const {
    return {.directory = path_.string(), .every = 1000, .resume = true};
  }

  void Replace(std::string_view header, std::string_view rest) {
    Write(header, 0);
    Write(rest, header.size());
    fuzz::Require(ftruncate(descriptor_, static_cast<off_t>(header.size() + rest.size())) == 0,
                  "the file has its length");
  }

 private:
  void Write(std::string_view bytes, std::size_t at) {
    fuzz::Require(pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at)) ==
                      static_cast<ssize_t>(bytes.size()),
                  "the file can be written");
  }

  std::filesystem::path path_;
  int descriptor_;
};

// Made when it is first needed, and kept: that takes much longer than to take it up. Never undone,
// as the libraries' own globals may be gone by then.
fuzz::CheckpointTraining& TrainingAt(std::size_t place) {
  using Trainings =
      std::array<std::unique_ptr<fuzz::CheckpointTraining>, fuzz::kTrainingNames.size()>;
  static Trainings& trainings = *new Trainings();
  std::unique_ptr<fuzz::CheckpointTraining>& training = trainings[place];
  if (training == nullptr) training = fuzz::MakeCheckpointTraining(place);
  return *training;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static CheckpointFolder folder;
  if (size == 0) return 0;
  const std::size_t kind = data[0] % (fuzz::kTrainingNames.size() + 1);
  const std::string_view bytes = fuzz::TextOf(data + 1, size - 1);
  const bool is_file = kind == fuzz::kTrainingNames.size();
  folder.Replace(is_file ? "" : detail::CheckpointHeader(bytes), bytes);
  try {
    TrainingAt(is_file ? 0 : kind).Run(folder.options());
  } catch (const CheckpointError&) {
    // Of another training, or of none.
  }
  return 0;
}
