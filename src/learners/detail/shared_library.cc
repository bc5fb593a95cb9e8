#include "learners/detail/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "bregboost/learners/library_error.h"
#include "learners/detail/python_search_path.h"

namespace bregboost::detail {
namespace {

namespace fs = std::filesystem;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string HowToInstall(const LibraryNames& names) {
  return fmt::format("install it with `pip install '{}>={}'`, or set {} to the path of {}",
                     names.package, names.oldest_version, names.environment_variable, names.file);
}

// One search: opens files and remembers why those before the first that opens did not.
class Search {
 public:
  explicit Search(const LibraryNames& names) : names_(names) {}

  // A path without a slash would send the loader searching, so files are opened by absolute path.
  bool TryFile(const fs::path& file, const std::string& place) {
    std::error_code no_error;
    if (!fs::exists(file, no_error)) {
      failures_.push_back(fmt::format("{}: no such file", place));
      return false;
    }
    return TryOpen(fs::absolute(file, no_error).string(), place);
  }

  bool TryFileOrFolder(const std::string& path, const std::string& place) {
    std::error_code no_error;
    const bool is_folder = fs::is_directory(path, no_error);
    return TryFile(is_folder ? fs::path(path) / names_.file : fs::path(path), place);
  }

  bool TryPackages(const fs::path& folder) {
    const fs::path file = folder / names_.package / "lib" / names_.file;
    return TryFile(file, file.string());
  }

  bool TryVirtualEnvironment(const std::string& root) {
    std::vector<fs::path> folders;  // lib/python3.11/site-packages; as a rule there is one
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(fs::path(root) / "lib", error)) {
      if (entry.path().filename().string().starts_with("python3")) {
        folders.push_back(entry.path() / "site-packages");
      }
    }
    if (folders.empty()) {
      failures_.push_back(fmt::format("VIRTUAL_ENV={}: has no lib/python3*", root));
    }
    std::sort(folders.begin(), folders.end());
    return std::any_of(folders.begin(), folders.end(),
                       [this](const fs::path& folder) { return TryPackages(folder); });
  }

  bool TryPython() {
    const std::vector<std::string> folders = PythonSearchPath();
    if (folders.empty()) failures_.emplace_back("python3 on PATH: none that answers");
    return std::any_of(folders.begin(), folders.end(),
                       [this](const std::string& folder) { return TryPackages(folder); });
  }

  bool TryOpen(const std::string& file, const std::string& place) {
    // Local, so that one process can hold several versions and copies of OpenMP; now, so that a
    // library whose dependencies are missing fails here and not in the middle of a training.
    handle_ = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return true;
    std::string reason = ::dlerror();
    if (reason.starts_with(file + ": ")) reason.erase(0, file.size() + 2);  // `place` says it
    failures_.push_back(fmt::format("{}: {}", place, reason));
    return false;
  }

  void* handle() const { return handle_; }

  [[noreturn]] void Fail() const {
    throw LibraryError(fmt::format("{} ({}) cannot be opened; looked at:\n  {}\n{}", names_.title,
                                   names_.file, fmt::join(failures_, "\n  "),
                                   HowToInstall(names_)));
  }

 private:
  const LibraryNames& names_;
  std::vector<std::string> failures_;
  void* handle_ = nullptr;
};

// It learns the order of events from the runtime that we are linked with, not from a library's.
#if defined(__has_feature)
constexpr bool kUnderThreadSanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool kUnderThreadSanitizer = false;  // the preset is Clang's
#endif

std::string PathOf(void* handle) {
  const link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
  std::error_code error;
  const fs::path path = fs::canonical(map->l_name, error);
  return error ? std::string(map->l_name) : path.string();
}

}  // namespace

SharedLibrary SharedLibrary::Find(const LibraryNames& names, const std::string& explicit_path) {
  Search search(names);
  const std::string variable = Environment(names.environment_variable.c_str());
  const std::string virtual_environment = Environment("VIRTUAL_ENV");
  bool is_open = false;
  if (!explicit_path.empty()) {
    is_open = search.TryFileOrFolder(explicit_path, explicit_path);
  } else if (!variable.empty()) {
    is_open = search.TryFileOrFolder(variable,
                                     fmt::format("{}={}", names.environment_variable, variable));
  } else {
    is_open = (!virtual_environment.empty() && search.TryVirtualEnvironment(virtual_environment)) ||
              search.TryPython() ||
              search.TryOpen(names.file, fmt::format("the loader's path: {}", names.file));
  }
  if (!is_open) search.Fail();
  return {names, search.handle()};
}

SharedLibrary::SharedLibrary(LibraryNames names, void* handle)
    : names_(std::move(names)), handle_(handle), path_(PathOf(handle)) {}

void* SharedLibrary::Symbol(const char* name) const { return ::dlsym(handle_, name); }

ParallelRegion* SharedLibrary::Region() const {
  return kUnderThreadSanitizer ? nullptr
                               : reinterpret_cast<ParallelRegion*>(Symbol("GOMP_parallel"));
}

void* SharedLibrary::RequiredSymbol(const char* name) const {
  void* const symbol = Symbol(name);
  if (symbol == nullptr) ThrowUnusable(fmt::format("has no function {}", name));
  return symbol;
}

void SharedLibrary::ThrowUnusable(const std::string& what_is_wrong) const {
  throw LibraryError(fmt::format("{} at {} {}; the oldest version that works is {}: {}",
                                 names_.title, path_, what_is_wrong, names_.oldest_version,
                                 HowToInstall(names_)));
}

}  // namespace bregboost::detail
