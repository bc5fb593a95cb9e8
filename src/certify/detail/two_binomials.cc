#include "certify/detail/two_binomials.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bregboost::detail {
namespace {

// p +- z sqrt(p (1 - p) / n) around p = (k + z^2/2) / (n + z^2), n + z^2 for n (Agresti & Coull
// 1998). The shift makes sums of such limits strictly monotone in every count: the derivative of
// the root is at most 1 / sqrt(2) of that of the centre.
struct ShiftedRate {
  double centre = 0.0;
  double variance = 0.0;
};

ShiftedRate Shifted(std::int64_t events, std::int64_t rows, double quantile) {
  const double shift = quantile * quantile;
  const double size = static_cast<double>(rows) + shift;
  const double centre = (static_cast<double>(events) + 0.5 * shift) / size;
  return {.centre = centre, .variance = centre * (1.0 - centre) / size};
}

// The probabilities that are not negligible, from `first` on.
struct BinomialWindow {
  std::int64_t first = 0;
  std::vector<double> probabilities;
};

// Appends ratio(0), ratio(0) ratio(1), ...: at most `most` masses, up to the first that is
// negligible.
template <class Ratio>
void AddMasses(std::int64_t most, const Ratio& ratio, std::vector<double>& masses) {
  constexpr double kNegligible = 1e-18;
  std::size_t size = masses.size();
  double mass = 1.0;
  for (std::int64_t j = 0; j < most; ++j) {
    mass *= ratio(static_cast<double>(j));
    if (mass < kNegligible) break;
    // Not push_back, which would keep the mass in memory.
    if (size == masses.size()) masses.resize(2 * size + 64);
    masses[size++] = mass;
  }
  masses.resize(size);
}

// Outwards from the mode by ratios of neighbours, then scaled to sum 1.
BinomialWindow WindowOf(std::int64_t rows, double rate) {
  if (rate <= 0.0) return {.first = 0, .probabilities = {1.0}};
  if (rate >= 1.0) return {.first = rows, .probabilities = {1.0}};
  const double odds = rate / (1.0 - rate);
  const auto n = static_cast<double>(rows);
  const auto mode = std::min(rows, static_cast<std::int64_t>((n + 1.0) * rate));
  const auto at_mode = static_cast<double>(mode);
  BinomialWindow window;
  std::vector<double>& masses = window.probabilities;
  const auto down = [&](double j) { return (at_mode - j) / ((n - (at_mode - j) + 1.0) * odds); };
  AddMasses(mode, down, masses);
  window.first = mode - static_cast<std::int64_t>(masses.size());
  std::reverse(masses.begin(), masses.end());
  masses.push_back(1.0);
  const auto up = [&](double j) { return (n - (at_mode + j)) * odds / (at_mode + j + 1.0); };
  AddMasses(rows - mode, up, masses);
  double total = 0.0;
  for (const double p : masses) total += p;
  for (double& p : masses) p /= total;
  return window;
}

}  // namespace

OrientedTerms Orient(const BinomialTerm& first, const BinomialTerm& second) {
  OrientedTerms oriented{.terms = {first, second}, .constant = 0.0};
  for (BinomialTerm& term : oriented.terms) {
    if (term.coefficient > 0.0) continue;
    oriented.constant += term.coefficient;
    term = {.coefficient = -term.coefficient, .events = term.rows - term.events, .rows = term.rows};
  }
  return oriented;
}

LowOutcomes::LowOutcomes(const std::array<BinomialTerm, 2>& terms, double normal_quantile)
    : first_rows_(terms[0].rows), second_rows_(terms[1].rows) {
  const auto limit = [&](std::int64_t first_events, std::int64_t second_events) {
    const ShiftedRate first = Shifted(first_events, terms[0].rows, normal_quantile);
    const ShiftedRate second = Shifted(second_events, terms[1].rows, normal_quantile);
    const double a = terms[0].coefficient, b = terms[1].coefficient;
    return a * first.centre + b * second.centre +
           normal_quantile * std::sqrt(a * a * first.variance + b * b * second.variance);
  };
  // Ties belong to the set, and rounding must not part them.
  const double observed = limit(terms[0].events, terms[1].events) +
                          1e-12 * (terms[0].coefficient + terms[1].coefficient);
  last_first_.resize(static_cast<std::size_t>(second_rows_) + 1, -1);
  std::int64_t first_events = first_rows_;
  for (std::int64_t second_events = 0; second_events <= second_rows_; ++second_events) {
    while (first_events >= 0 && limit(first_events, second_events) > observed) --first_events;
    last_first_[static_cast<std::size_t>(second_events)] = first_events;
  }
}

double LowOutcomes::Probability(double first_rate, double second_rate) const {
  BinomialWindow first = WindowOf(first_rows_, first_rate);
  std::vector<double>& at_most = first.probabilities;  // becomes the distribution function
  for (std::size_t i = 1; i < at_most.size(); ++i) at_most[i] += at_most[i - 1];
  const BinomialWindow second = WindowOf(second_rows_, second_rate);
  double probability = 0.0;
  for (std::size_t j = 0; j < second.probabilities.size(); ++j) {
    const std::int64_t last = last_first_[static_cast<std::size_t>(second.first) + j] - first.first;
    if (last < 0) continue;
    const auto index = std::min(static_cast<std::size_t>(last), at_most.size() - 1);
    probability += second.probabilities[j] * at_most[index];
  }
  constexpr double kRounding = 1e-10;
  return std::min(1.0, probability + kRounding);
}

bool LowOutcomes::IsUnlikelyOn(const RateLine& line, const RateBox& box, double level) const {
  const double a = line.coefficients[0], b = line.coefficients[1];
  // Clamped, so that a rounded corner stays a rate of the box.
  const auto second_rate = [&](double first_rate) {
    return std::clamp((line.level - a * first_rate) / b, box[1].low, box[1].high);
  };
  const double from = std::max(box[0].low, (line.level - b * box[1].high) / a);
  const double to = std::min(box[0].high, (line.level - b * box[1].low) / a);
  if (from > to) return true;  // no such rates
  constexpr int kPieces = 8, kFinest = 512;
  const double narrowest = (to - from) / (kPieces * kFinest);
  std::vector<std::pair<double, double>> stretches;
  for (int i = 0; i < kPieces; ++i) {
    stretches.emplace_back(from + (to - from) * i / kPieces,
                           from + (to - from) * (i + 1) / kPieces);
  }
  while (!stretches.empty()) {
    const auto [low, high] = stretches.back();
    stretches.pop_back();
    if (Probability(low, second_rate(high)) <= level) continue;
    const double middle = 0.5 * (low + high);
    if (high - low <= narrowest || Probability(middle, second_rate(middle)) > level) return false;
    stretches.emplace_back(low, middle);
    stretches.emplace_back(middle, high);
  }
  return true;
}

}  // namespace bregboost::detail
