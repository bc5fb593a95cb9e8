// The parts of the page as HTML, in the order in which a reader asks for them. Each is empty where
// the document has nothing for it. They read well without a script; figures that a script draws are
// places marked with data-chart, hidden until it runs.
#pragma once

#include <string>

#include "report/detail/report_facts.h"

namespace bregboost::detail {

// report_verdict.cc
std::string VerdictBanner(const ReportFacts& facts);
std::string Warnings(const ReportFacts& facts);

// report_tables.cc
std::string LimitsSection(const ReportFacts& facts);
std::string GroupsSection(const ReportFacts& facts);
std::string FrontierSection(const ReportFacts& facts);

// report_notes.cc
std::string ObstaclesSection(const ReportFacts& facts);
std::string CostSection(const ReportFacts& facts);
std::string CourseSection(const ReportFacts& facts);
std::string MakingSection(const ReportFacts& facts);
std::string ReadingSection(const ReportFacts& facts);

// What they share.
std::string Section(const char* id, const std::string& title, const std::string& content);
// A list, each item HTML; those behind the first `most` are folded away.
std::string Items(const std::vector<std::string>& items, std::size_t most);
std::string Icon(Mood mood);
const char* Class(Mood mood);
// "one point more buys 0.40 points of accuracy"; empty without a price.
std::string PriceText(const LimitFacts& limit, const ReportFacts& facts);
std::string WithCapital(std::string text);

}  // namespace bregboost::detail
