// What a page says of its document, as HTML and JSON that need no further escaping. All else in a
// page is the same in every page.
#pragma once

#include <string>
#include <string_view>

namespace bregboost::detail {

struct ReportTexts {
  std::string title;
  std::string subtitle;
  std::string sections;
  std::string data;  // the document, for the charts and for machines
};

// Throws std::invalid_argument as ParseRunDocument().
ReportTexts ReportTextsOf(std::string_view run_document_json);

}  // namespace bregboost::detail
