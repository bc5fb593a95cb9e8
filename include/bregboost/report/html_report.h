// A run as one HTML file for people: the verdict first, then limits, costs, groups, the frontier
// and what an audit asks for. The file holds everything it needs and never asks a network; verdict
// and tables are there without JavaScript, which adds the charts, sorting and filters.
//
// Names from the data (columns, classes, files) are shown as they are and never run as code.
#pragma once

#include <string>
#include <string_view>

namespace bregboost {

// Of a run document (report/run_document.h); the same document gives the same bytes. The document
// is inside, without its encoding; its history without multipliers and to six digits. Throws
// std::invalid_argument as ParseRunDocument().
std::string HtmlReport(std::string_view run_document_json);

}  // namespace bregboost
