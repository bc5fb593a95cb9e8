// What `train` left behind, read back.
#pragma once

#include <string>
#include <vector>

#include "bregboost/data/column_encoding.h"
#include "bregboost/model/stored_model.h"
#include "bregboost/problem/constraint.h"
#include "bregboost/report/run_document.h"
#include "data_flags.h"

namespace bregboost::cli {

struct RunFolder {
  RunDocument document;
  ColumnEncoding encoding;
  std::vector<Constraint> constraints;
  std::string objective, positive;  // as in the report; positive only of two classes
};

// Throw Failure naming the file; `text` is what `path` holds.
RunFolder ParseRun(const std::string& text, const std::string& path);
RunFolder ReadRunFolder(const std::string& folder);
StoredModel ReadModel(const std::string& folder, const RunFolder& run, const std::string& library);

// The path of a file in a folder. Throws Failure for a link that leads out of it: a folder of
// somebody else's does not choose what else is read.
std::string FileIn(const std::string& folder, const std::string& name);

// Throws Failure unless it is a regular file; a device or a pipe might never end.
std::string ReadWholeFile(const std::string& path);

}  // namespace bregboost::cli
