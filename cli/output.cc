#include "output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include "failure.h"

namespace bregboost::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void FailToWrite(const fs::path& path, const std::string& why) {
  throw Failure(ExitCode::kOutput, fmt::format("out: cannot write '{}': {}", path.string(), why));
}

// A dangling link is something, too.
bool IsThere(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

void RefuseWhatIsThere(const fs::path& path, bool force) {
  if (force || !IsThere(path)) return;
  throw Failure(ExitCode::kOutput,
                fmt::format("out: '{}' exists; allowed: a new name, or --force to replace it",
                            path.string()));
}

// "run" for "run/" as well.
fs::path WithoutSlash(const std::string& path) {
  const fs::path plain(path);
  return plain.has_filename() ? plain : plain.parent_path();
}

void WriteWhole(const fs::path& path, std::string_view contents) {
  // A link that somebody left in this place leads nowhere.
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) FailToWrite(path, std::strerror(errno));
  std::FILE* file = ::fdopen(descriptor, "wb");
  if (file == nullptr) FailToWrite(path, std::strerror(errno));
  errno = 0;
  const bool written = std::fwrite(contents.data(), 1, contents.size(), file) == contents.size() &&
                       std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0;
  const int reason = errno;
  if (std::fclose(file) != 0 || !written) {
    FailToWrite(path, std::strerror(written ? errno : reason));
  }
}

}  // namespace

OutputFolder::OutputFolder(const std::string& path, bool force)
    : path_(WithoutSlash(path)), force_(force) {
  if (path_.empty()) throw Failure(ExitCode::kUsage, "out: ''; allowed: the name of a folder");
  RefuseWhatIsThere(path_, force);
  std::error_code error;
  if (path_.has_parent_path()) fs::create_directories(path_.parent_path(), error);
  std::string beside = (path_.parent_path() / fmt::format(".{}.XXXXXX", path_.filename().string()));
  if (::mkdtemp(beside.data()) == nullptr) FailToWrite(path_, std::strerror(errno));
  beside_ = beside;
  fs::permissions(beside_,
                  fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read |
                      fs::perms::others_exec,
                  fs::perm_options::add, error);
}

OutputFolder::~OutputFolder() {
  std::error_code error;
  if (!beside_.empty()) fs::remove_all(beside_, error);
}

void OutputFolder::Write(const std::string& name, std::string_view contents) {
  WriteWhole(beside_ / name, contents);
}

void OutputFolder::Publish() {
  RefuseWhatIsThere(path_, force_);  // it may have come meanwhile
  const fs::path old = beside_.string() + ".old";
  const bool replaces = IsThere(path_);
  std::error_code error;
  if (replaces) fs::rename(path_, old, error);
  if (!error) fs::rename(beside_, path_, error);
  if (error) {
    std::error_code ignored;
    if (replaces && fs::exists(old, ignored)) fs::rename(old, path_, ignored);
    FailToWrite(path_, error.message());
  }
  beside_.clear();
  fs::remove_all(old, error);
}

void CheckOutputFile(const std::string& path, bool force) {
  if (path == "-") return;
  if (fs::is_directory(path)) FailToWrite(path, "it is a folder");
  RefuseWhatIsThere(path, force);
}

void WriteOutputFile(const std::string& path, std::string_view contents) {
  if (path == "-") {
    if (std::fwrite(contents.data(), 1, contents.size(), stdout) != contents.size() ||
        std::fflush(stdout) != 0) {
      FailToWrite("stdout", std::strerror(errno));
    }
    return;
  }
  const fs::path beside = path + ".part";
  try {
    WriteWhole(beside, contents);
  } catch (...) {
    std::error_code ignored;
    fs::remove(beside, ignored);
    throw;
  }
  std::error_code error;
  fs::rename(beside, path, error);
  if (!error) return;
  std::error_code ignored;
  fs::remove(beside, ignored);
  FailToWrite(path, error.message());
}

}  // namespace bregboost::cli
