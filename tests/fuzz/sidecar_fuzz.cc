// What a run leaves beside its model, bregboost.json, with all that is read out of it: the
// document, the encoding of columns, limits, the HTML report; and the log of certificates.
#include <stdexcept>

#include "bregboost/certify/certification_log.h"
#include "bregboost/data/column_encoding.h"
#include "bregboost/report/html_report.h"
#include "bregboost/report/run_document.h"
#include "failure.h"
#include "fuzz_target.h"
#include "report/detail/report_texts.h"
#include "run_folder.h"

namespace {

using namespace bregboost;  // NOLINT: a program
using fuzz::IsOneIn;
using fuzz::Require;

// Whether it is one.
bool CheckDocument(std::string_view text) {
  RunDocument document;
  try {
    document = ParseRunDocument(text);
  } catch (const std::invalid_argument&) {
    return false;
  }
  Require(ParseRunDocument(ToJson(document)) == document, "written and read again, it is the same");
  const detail::ReportTexts texts = detail::ReportTextsOf(text);
  Require(!texts.title.empty() && !texts.sections.empty(), "every document has a report");
  // Half a megabyte of every page are scripts that no document changes.
  if (!IsOneIn(64, text)) return true;
  const std::string page = HtmlReport(text);
  Require(page.find(texts.sections) != std::string::npos, "a page has what the report says");
  Require(page.ends_with("</html>\n"), "the report of a document is a whole page");
  return true;
}

void CheckRun(std::string_view text) {
  try {
    cli::ParseRun(std::string(text), "bregboost.json");
  } catch (const cli::Failure& failure) {
    Require(failure.code() == cli::ExitCode::kData, "a bad document is bad data");
  }
}

void CheckEncoding(std::string_view text) {
  ColumnEncoding encoding;
  try {
    encoding = ColumnEncodingFromJson(text);
  } catch (const std::invalid_argument&) {
    return;
  }
  const std::string written = ToJson(encoding);
  Require(ToJson(ColumnEncodingFromJson(written)) == written,
          "an encoding reads back as it was written");
}

void CheckLog(std::string_view text) {
  CertificationLog log;
  try {
    log = CertificationLog::FromJson(text);
  } catch (const std::invalid_argument&) {
    return;
  }
  Require(CertificationLog::FromJson(log.ToJson()) == log, "a log reads back as it was written");
}

}  // namespace

// Every reader parses the whole text before it refuses it, so most texts are read only as what they
// say they are: documents name their format.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::TextOf(data, size);
  const bool is_read_as_all = IsOneIn(16, text);
  const bool names_format = text.find("bregboost run") != std::string_view::npos;
  if (names_format || is_read_as_all) {
    if (CheckDocument(text) || is_read_as_all) CheckRun(text);
  }
  if (!names_format || is_read_as_all) {
    CheckEncoding(text);
    CheckLog(text);
  }
  return 0;
}
