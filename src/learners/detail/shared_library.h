// A shared library opened at run time, and where to look for one.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace bregboost::detail {

// What identifies one stock library.
struct LibraryNames {
  std::string title;                 // "LightGBM"
  std::string package;               // "lightgbm": the Python package whose wheel carries it
  std::string file;                  // "lib_lightgbm.so"
  std::string environment_variable;  // "BREGBOOST_LIGHTGBM"
  std::string oldest_version;        // "4.0"
};

class SharedLibrary {
 public:
  // Looks at: `explicit_path` if it is not empty, else the environment variable if it is set (either
  // must then work); else the wheel in the active virtual environment, then in what `python3` on
  // PATH imports from; else the loader's path. Throws LibraryError that lists every place looked at.
  static SharedLibrary Find(const LibraryNames& names, const std::string& explicit_path);

  SharedLibrary(SharedLibrary&& other) noexcept;
  SharedLibrary& operator=(SharedLibrary&& other) noexcept;
  ~SharedLibrary();

  const std::string& path() const { return path_; }

  // The address of a function, or nullptr.
  void* Symbol(const char* name) const;

 private:
  SharedLibrary(void* handle, std::string path);

  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace bregboost::detail
