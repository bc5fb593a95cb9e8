#include "text_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bregboost::cli {
namespace {

// What the terminal shows: characters, not bytes.
std::size_t Width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string Headline(double total_violation, std::size_t limits, std::size_t rows,
                     const char* which) {
  if (limits == 0) return fmt::format("No limits; {} {} rows\n", rows, which);
  const bool holds = total_violation == 0.0;
  const char* subject = limits == 1 ? "The limit" : "All limits";
  if (holds) {
    return fmt::format("{} {} on {} {} rows\n", subject, limits == 1 ? "holds" : "hold", rows,
                       which);
  }
  return fmt::format("{} on {} {} rows\n",
                     limits == 1 ? "The limit does not hold" : "Not all limits hold", rows, which);
}

bool IsLoss(const Constraint& constraint) {
  return std::any_of(constraint.expression.terms.begin(), constraint.expression.terms.end(),
                     [](const Term& term) { return term.rate.kind == RateKind::kLoss; });
}

}  // namespace

std::string AlignedTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t j = 0; j < row.size(); ++j) widths[j] = std::max(widths[j], Width(row[j]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t j = 0; j < row.size(); ++j) {
      const std::size_t space = widths[j] - Width(row[j]);
      line += ' ';
      if (j > 0) line.append(1 + space, ' ');
      line += row[j];
      if (j == 0) line.append(space, ' ');
    }
    line.resize(line.find_last_not_of(' ') + 1);
    text += line;
    text += '\n';
  }
  return text;
}

std::string Amount(const Constraint& constraint, double value) {
  if (std::isnan(value)) return "undefined";
  return IsLoss(constraint) ? fmt::format("{:.4g}", value) : fmt::format("{:.2f}%", 100.0 * value);
}

std::string TextOf(const std::vector<Measurement>& measured,
                   const std::vector<Constraint>& constraints) {
  std::vector<std::vector<std::string>> rows = {{"limit", "measured", "bound", "holds"}};
  for (std::size_t c = 0; c < measured.size(); ++c) {
    rows.push_back({measured[c].text, Amount(constraints[c], measured[c].value),
                    Amount(constraints[c], constraints[c].bound),
                    measured[c].satisfied ? "yes" : "no"});
  }
  return AlignedTable(rows);
}

std::string TextOf(const Certificate& certificate, const std::vector<Constraint>& constraints) {
  std::vector<std::vector<std::string>> rows = {
      {"limit", "measured", "with confidence", "bound", "verdict", "rows"}};
  std::string needs;
  for (std::size_t c = 0; c < certificate.constraints.size(); ++c) {
    const ConstraintVerdict& verdict = certificate.constraints[c];
    const bool has_bound = verdict.verdict != Verdict::kEstimated;
    rows.push_back({verdict.text, Amount(constraints[c], verdict.value),
                    has_bound ? Amount(constraints[c], verdict.confidence_bound) : "-",
                    Amount(constraints[c], verdict.bound), std::string(Name(verdict.verdict)),
                    std::to_string(verdict.rows)});
    if (verdict.needs.rows_needed) {
      needs += fmt::format("  - {}: needs about {} rows of {}; there are {}\n", verdict.text,
                           *verdict.needs.rows_needed, verdict.needs.subset, verdict.needs.rows);
    }
  }
  return AlignedTable(rows) + needs;
}

std::string TextOf(const FitReport& report, const UnlimitedDecision* unlimited,
                   const Reachability* diagnosis) {
  const std::vector<Constraint>& constraints = report.constraints;
  std::string text =
      Headline(report.total_violation, constraints.size(), report.unseen_rows, "unseen");
  if (!constraints.empty()) text += TextOf(report.measurements, constraints);
  if (report.certification_rows > 0) {
    text += fmt::format("Certificate at {:.4g}% confidence, {} rows\n",
                        100.0 * (1.0 - report.certificate.delta), report.certification_rows);
    text += TextOf(report.certificate, constraints);
  } else if (!constraints.empty()) {
    text += "  - Estimated, not certified: no rows were kept for a certificate\n";
  }
  text += "What it costs\n";
  const auto amount = [&](double value) {
    return report.classes.empty() ? fmt::format("{:.4g}", value)
                                  : fmt::format("{:.2f}%", 100.0 * value);
  };
  text += fmt::format("  - {} {} on unseen rows", report.objective, amount(report.objective_value));
  if (unlimited != nullptr && !constraints.empty()) {
    text += fmt::format(", {} without limits", amount(unlimited->objective));
  }
  text += "\n";
  for (const Price& price : report.unseen.prices) {
    if (!price.binding) continue;
    text += fmt::format("  - {}: one point more buys {:.3g} points of {} (standard error {:.2g})\n",
                        price.text, price.price, report.objective, price.standard_error);
  }
  if (diagnosis != nullptr) {
    text += "What could be reached by offsets alone\n";
    for (std::size_t c = 0; c < diagnosis->alone.size(); ++c) {
      text += fmt::format("  - {}: {} by itself\n", diagnosis->alone[c].text,
                          Amount(constraints[c], diagnosis->alone[c].value));
    }
    text += fmt::format("  - all together with every bound loosened by {:.2f} points\n",
                        100.0 * diagnosis->relaxation);
  }
  return text;
}

std::string TextOf(const PaperReport& report, const std::vector<Constraint>& constraints) {
  std::string text =
      Headline(report.total_violation, constraints.size(), report.training_rows, "training");
  if (!constraints.empty()) text += TextOf(report.measurements, constraints);
  text += fmt::format("  - {} ended: {}; loss {:.6g}\n", Name(report.solver), Name(report.reason),
                      report.loss);
  text += "  - Measured on the rows that it was trained on: says little about others\n";
  return text;
}

}  // namespace bregboost::cli
