// Results appear whole or not at all: they are written beside their place and renamed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace bregboost::cli {

// A folder of results. It is made beside its place at once, so that what cannot be written is known
// before hours of training; without Publish() nothing remains of it.
class OutputFolder {
 public:
  // Throws Failure if something is at `path` already, unless `force`, or nothing can be written.
  OutputFolder(const std::string& path, bool force);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  void Write(const std::string& name, std::string_view contents);
  // Moves the folder to its place; what was there goes once the new one is.
  void Publish();

 private:
  std::filesystem::path path_, beside_;
  bool force_;
};

// One file; "-" is stdout. Throws Failure as above.
void CheckOutputFile(const std::string& path, bool force);
void WriteOutputFile(const std::string& path, std::string_view contents);

}  // namespace bregboost::cli
