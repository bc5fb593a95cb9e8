// A stock library opened at run time, and where to look for it.
#pragma once

#include <string>

#include "detail/thread_scope.h"

namespace bregboost::detail {

// What identifies one stock library.
struct LibraryNames {
  std::string title;                 // "LightGBM"
  std::string package;               // "lightgbm": the Python package whose wheel carries it
  std::string file;                  // "lib_lightgbm.so"
  std::string environment_variable;  // "BREGBOOST_LIGHTGBM"
  std::string oldest_version;        // "4.0"
};

// Never closed: the libraries keep threads of an OpenMP pool and destructors of static and
// thread-local objects, whose code must stay mapped until the process ends. A copy is another name
// of the same library.
class SharedLibrary {
 public:
  // Looks at: `explicit_path` if it is not empty, else the environment variable if it is set
  // (either names the file or its folder, and must then work); else the wheel in the active virtual
  // environment, then in what `python3` on PATH imports from; else the loader's path. Throws
  // LibraryError that lists every place looked at.
  static SharedLibrary Find(const LibraryNames& names, const std::string& explicit_path);

  // Absolute, without symbolic links: the same for every way to find the same file.
  const std::string& path() const { return path_; }

  // The address of a function, or nullptr.
  void* Symbol(const char* name) const;
  // Throws LibraryError if there is none.
  void* RequiredSymbol(const char* name) const;

  template <class Function>
  void Bind(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(RequiredSymbol(name));
  }

  // Of the OpenMP runtime that the library uses; nullptr where it has none that we know how to
  // call.
  ParallelRegion* Region() const;

  // "LightGBM at <path> <what is wrong>; ..." with the oldest version that will do.
  [[noreturn]] void ThrowUnusable(const std::string& what_is_wrong) const;

 private:
  SharedLibrary(LibraryNames names, void* handle);

  LibraryNames names_;
  void* handle_;
  std::string path_;
};

}  // namespace bregboost::detail
