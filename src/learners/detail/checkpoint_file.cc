#include "learners/detail/checkpoint_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "bregboost/learners/checkpoint.h"
#include "detail/bytes.h"
#include "detail/checksum.h"

namespace bregboost::detail {
namespace {

constexpr std::string_view kMagic = "bregboost checkpoint\n";
constexpr std::int64_t kVersion = 2;
constexpr std::size_t kHeaderSize = kMagic.size() + 3 * sizeof(std::int64_t);

[[noreturn]] void Fail(const std::string& path, std::string_view what) {
  throw CheckpointError(fmt::format("checkpoint '{}': {}", path, what));
}

// By the system's last error.
std::string Reason(std::string_view what) {
  const int error = errno;
  return fmt::format("{}: {}", what, std::generic_category().message(error));
}

[[noreturn]] void FailToRead(const std::string& path) { Fail(path, Reason("cannot be read")); }

[[noreturn]] void FailToWrite(const std::string& path) {
  throw CheckpointWriteError(fmt::format("checkpoint '{}': {}", path, Reason("cannot be written")));
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : value_(open(path.c_str(), flags, 0666)) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return value_; }
  // Some file systems say only here that the disk is full.
  bool Close() { return close(std::exchange(value_, -1)) == 0; }

 private:
  int value_;
};

bool WriteAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::string CheckpointHeader(std::string_view contents) {
  ByteWriter numbers;
  numbers.Put(kVersion);
  numbers.Put(static_cast<std::int64_t>(contents.size()));
  numbers.Put(std::int64_t{Checksum(contents)});
  return std::string(kMagic) + numbers.bytes();
}

void WriteCheckpoint(const std::string& path, const std::string& contents) {
  const std::string beside = path + ".new";
  {
    // A link that somebody left there leads nowhere.
    Descriptor file(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
    if (file.get() < 0) FailToWrite(path);
    const bool written = WriteAll(file.get(), CheckpointHeader(contents)) &&
                         WriteAll(file.get(), contents) && fsync(file.get()) == 0 && file.Close();
    if (!written) {
      const int error = errno;
      unlink(beside.c_str());
      errno = error;
      FailToWrite(path);
    }
  }
  if (rename(beside.c_str(), path.c_str()) != 0) FailToWrite(path);
  // The name is safe once the directory is; a file system that has no such thing may say no.
  const Descriptor directory(std::filesystem::path(path).parent_path().string(),
                             O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory.get() >= 0) fsync(directory.get());
}

std::optional<std::string> ReadCheckpoint(const std::string& path) {
  // What is no file must not make us wait for its other end.
  const Descriptor file(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file.get() < 0) {
    if (errno == ENOENT) return std::nullopt;
    FailToRead(path);
  }
  struct stat status = {};
  if (fstat(file.get(), &status) != 0) FailToRead(path);
  if (!S_ISREG(status.st_mode)) Fail(path, "is not a file; allowed: what a training wrote");
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = read(file.get(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) FailToRead(path);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  if (!std::string_view(bytes).starts_with(kMagic) || size < kHeaderSize) {
    Fail(path, "is not a checkpoint, or its beginning is lost");
  }
  ByteReader header(std::string_view(bytes).substr(kMagic.size()));
  const std::int64_t version = header.Integer();
  if (version != kVersion) {
    Fail(path, fmt::format("version {}; allowed: {}", version, kVersion));
  }
  const std::int64_t expected = header.Integer();
  const std::int64_t checksum = header.Integer();
  bytes.erase(0, kHeaderSize);
  if (static_cast<std::int64_t>(bytes.size()) != expected) {
    Fail(path, fmt::format("{} bytes of contents; allowed: {}, as its header says", bytes.size(),
                           expected));
  }
  if (std::int64_t{Checksum(bytes)} != checksum) Fail(path, "is damaged: the checksum is another");
  return bytes;
}

}  // namespace bregboost::detail
