// The file that a checkpoint is: a header with the size and a checksum of what follows, written
// beside and put in place by a rename, so that there is always the last one or the one before.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bregboost::detail {

// What stands in the file before the contents.
std::string CheckpointHeader(std::string_view contents);

// Throw CheckpointError with the file's name.
void WriteCheckpoint(const std::string& path, const std::string& contents);
std::optional<std::string> ReadCheckpoint(const std::string& path);  // nothing: no such file

}  // namespace bregboost::detail
