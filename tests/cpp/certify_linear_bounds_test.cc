// Bounds on sums of rates against exact probabilities: all outcomes of a few rows are enumerated,
// at a fine grid of true rates.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "bregboost/certify/binomial_bounds.h"
#include "bregboost/certify/linear_bounds.h"
#include "error_text.h"

namespace bregboost {
namespace {

std::vector<double> Distribution(std::int64_t rows, double rate) {
  std::vector<double> p;
  for (std::int64_t k = 0; k <= rows; ++k) {
    const auto n = static_cast<double>(rows), x = static_cast<double>(k);
    p.push_back(std::exp(std::lgamma(n + 1.0) - std::lgamma(x + 1.0) - std::lgamma(n - x + 1.0)) *
                std::pow(rate, x) * std::pow(1.0 - rate, n - x));
  }
  return p;
}

// Every outcome of the terms, whose own counts are ignored.
void ForEachOutcome(const std::vector<BinomialTerm>& terms,
                    const std::function<void(const std::vector<BinomialTerm>&)>& visit) {
  std::vector<BinomialTerm> outcome = terms;
  for (BinomialTerm& term : outcome) term.events = 0;
  while (true) {
    visit(outcome);
    std::size_t a = 0;
    while (a < outcome.size() && ++outcome[a].events > outcome[a].rows) outcome[a++].events = 0;
    if (a == outcome.size()) return;
  }
}

// Every vector of rates on a grid with `steps` steps.
void ForEachRates(std::size_t terms, int steps,
                  const std::function<void(const std::vector<double>&)>& visit) {
  std::vector<int> index(terms, 0);
  while (true) {
    std::vector<double> rates;
    for (const int i : index) rates.push_back(static_cast<double>(i) / steps);
    visit(rates);
    std::size_t a = 0;
    while (a < terms && ++index[a] > steps) index[a++] = 0;
    if (a == terms) return;
  }
}

double SumOf(const std::vector<BinomialTerm>& terms, const std::vector<double>& rates) {
  double sum = 0.0;
  for (std::size_t a = 0; a < terms.size(); ++a) sum += terms[a].coefficient * rates[a];
  return sum;
}

double ObservedSum(const std::vector<BinomialTerm>& terms) {
  double sum = 0.0;
  for (const BinomialTerm& term : terms) {
    sum += term.coefficient * static_cast<double>(term.events) / static_cast<double>(term.rows);
  }
  return sum;
}

// The largest probability, over the grid, that the bound is below the true sum.
double WorstFailure(const std::vector<BinomialTerm>& terms, double delta, LinearMethod method,
                    int steps) {
  std::vector<std::vector<std::int64_t>> counts;
  std::vector<double> bounds;
  ForEachOutcome(terms, [&](const std::vector<BinomialTerm>& outcome) {
    std::vector<std::int64_t> events;
    for (const BinomialTerm& term : outcome) events.push_back(term.events);
    counts.push_back(events);
    bounds.push_back(LinearUpperBound(outcome, delta, method));
  });
  double worst = 0.0;
  ForEachRates(terms.size(), steps, [&](const std::vector<double>& rates) {
    std::vector<std::vector<double>> p;
    for (std::size_t a = 0; a < terms.size(); ++a) {
      p.push_back(Distribution(terms[a].rows, rates[a]));
    }
    const double truth = SumOf(terms, rates);
    double failure = 0.0;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      if (bounds[i] >= truth - 1e-12) continue;
      double probability = 1.0;
      for (std::size_t a = 0; a < terms.size(); ++a) {
        probability *= p[a][static_cast<std::size_t>(counts[i][a])];
      }
      failure += probability;
    }
    worst = std::max(worst, failure);
  });
  return worst;
}

TEST(LinearBounds, OfTwoRatesFailNoMoreOftenThanDelta) {
  const std::vector<std::vector<BinomialTerm>> problems = {
      {{1.0, 0, 12}, {-1.0, 0, 9}},
      {{0.8, 0, 15}, {-1.0, 0, 4}},
      {{0.5, 0, 8}, {0.5, 0, 11}},
      {{-2.0, 0, 6}, {-0.3, 0, 10}},
  };
  for (const auto& terms : problems) {
    for (const double delta : {0.1, 0.3}) {
      for (const LinearMethod method :
           {LinearMethod::kTwoBinomials, LinearMethod::kChernoff, LinearMethod::kUnion}) {
        EXPECT_LE(WorstFailure(terms, delta, method, 100), delta)
            << "method " << static_cast<int>(method) << ", c " << terms[0].coefficient;
      }
    }
  }
}

TEST(LinearBounds, OfThreeRatesFailNoMoreOftenThanDelta) {
  const std::vector<BinomialTerm> terms = {{1.0, 0, 5}, {-0.5, 0, 4}, {0.25, 0, 6}};
  EXPECT_LE(WorstFailure(terms, 0.2, LinearMethod::kChernoff, 20), 0.2);
  EXPECT_LE(WorstFailure(terms, 0.2, LinearMethod::kUnion, 20), 0.2);
}

// Not only valid: at some rates the exact bound fails nearly as often as it may.
TEST(LinearBounds, OfTwoRatesWastesLittle) {
  const std::vector<BinomialTerm> terms = {{1.0, 0, 30}, {-1.0, 0, 25}};
  EXPECT_GT(WorstFailure(terms, 0.1, LinearMethod::kTwoBinomials, 50), 0.085);
  // Nearly the width of normal theory, z = 1.2816, on many rows.
  const std::vector<BinomialTerm> many = {{1.0, 150, 1500}, {-1.0, 96, 1200}};
  const double width = 1.2816 * std::sqrt(0.1 * 0.9 / 1500.0 + 0.08 * 0.92 / 1200.0);
  const double bound = LinearUpperBound(many, 0.1, LinearMethod::kTwoBinomials);
  EXPECT_GT(bound, 0.02 + 0.95 * width);
  EXPECT_LT(bound, 0.02 + 1.1 * width);
  EXPECT_LT(bound, LinearUpperBound(many, 0.1, LinearMethod::kUnion));
  EXPECT_LT(bound, LinearUpperBound(many, 0.1, LinearMethod::kChernoff));
}

// P(T <= t), maximised over a fine grid of the rates with sum `bound` or more.
double BruteForceTail(const std::vector<BinomialTerm>& terms, double bound, int steps) {
  const double observed = ObservedSum(terms);
  double worst = 0.0;
  ForEachRates(terms.size(), steps, [&](const std::vector<double>& rates) {
    if (SumOf(terms, rates) < bound - 1e-12) return;
    std::vector<std::vector<double>> p;
    for (std::size_t a = 0; a < terms.size(); ++a) {
      p.push_back(Distribution(terms[a].rows, rates[a]));
    }
    double tail = 0.0;
    ForEachOutcome(terms, [&](const std::vector<BinomialTerm>& outcome) {
      if (ObservedSum(outcome) > observed + 1e-12) return;
      double probability = 1.0;
      for (std::size_t a = 0; a < terms.size(); ++a) {
        probability *= p[a][static_cast<std::size_t>(outcome[a].events)];
      }
      tail += probability;
    });
    worst = std::max(worst, tail);
  });
  return worst;
}

TEST(Chernoff, IsNeverBelowTheTail) {
  for (const double second : {-1.0, 0.6, -0.2}) {
    for (const std::int64_t events : {0, 2, 5}) {
      const std::vector<BinomialTerm> terms = {{1.0, events, 10}, {second, 3, 7}};
      for (const double bound : {0.1, 0.3, 0.55, 0.8}) {
        const double p_value = ChernoffPValue(terms, bound);
        EXPECT_GE(p_value, BruteForceTail(terms, bound, 60)) << second << ' ' << events;
        EXPECT_LE(p_value, 1.0);
      }
    }
  }
}

// One rate has Chernoff's bound in closed form: exp(-n KL(k/n, b)).
TEST(Chernoff, HasItsClosedFormForOneRate) {
  const std::vector<BinomialTerm> term = {{1.0, 20, 200}};
  const double rate = 0.1, bound = 0.17;
  const double divergence =
      rate * std::log(rate / bound) + (1.0 - rate) * std::log((1.0 - rate) / (1.0 - bound));
  EXPECT_NEAR(std::log(ChernoffPValue(term, bound)), -200.0 * divergence, 1e-5);
  EXPECT_EQ(ChernoffPValue(term, 0.05), 1.0);  // below what was observed
  EXPECT_EQ(ChernoffPValue(term, 1.01), 0.0);  // no such rates
}

TEST(LinearBounds, AreMonotone) {
  const auto bound = [](std::int64_t first, std::int64_t second, std::int64_t scale, double delta,
                        LinearMethod method) {
    const std::vector<BinomialTerm> terms = {{1.0, scale * first, scale * 90},
                                             {-0.8, scale * second, scale * 120}};
    return LinearUpperBound(terms, delta, method);
  };
  for (const LinearMethod method :
       {LinearMethod::kTwoBinomials, LinearMethod::kChernoff, LinearMethod::kUnion}) {
    const double base = bound(9, 20, 1, 0.1, method);
    EXPECT_GT(bound(14, 20, 1, 0.1, method), base);
    EXPECT_GT(bound(9, 14, 1, 0.1, method), base);
    EXPECT_LT(bound(9, 20, 4, 0.1, method), base);
    EXPECT_GT(bound(9, 20, 1, 0.02, method), base);
  }
}

TEST(LinearBounds, TestAgreesWithTheBound) {
  for (const std::int64_t events : {5, 20, 60}) {
    const std::vector<BinomialTerm> terms = {{1.0, events, 100}, {-1.0, 30, 150}};
    const double bound = LinearUpperBound(terms, 0.1);
    EXPECT_TRUE(LinearSumIsBelow(terms, bound, 0.1));
    EXPECT_TRUE(LinearSumIsBelow(terms, 5.0, 0.1));
    EXPECT_FALSE(LinearSumIsBelow(terms, bound - 0.01, 0.1));
    EXPECT_FALSE(LinearSumIsBelow(terms, -5.0, 0.1));
  }
}

TEST(LinearBounds, OneTermIsBinomial) {
  const std::vector<BinomialTerm> up = {{2.0, 3, 40}}, down = {{-2.0, 3, 40}};
  EXPECT_EQ(ChooseLinearMethod(up, 0.1), LinearMethod::kBinomial);
  EXPECT_EQ(LinearUpperBound(up, 0.1), 2.0 * BinomialUpperBound(3, 40, 0.1));
  EXPECT_EQ(LinearUpperBound(down, 0.1), -2.0 * BinomialLowerBound(3, 40, 0.1));
}

TEST(LinearBounds, MethodDependsOnSizesAlone) {
  const auto method = [](std::vector<BinomialTerm> terms) {
    const LinearMethod chosen = ChooseLinearMethod(terms, 0.1);
    for (BinomialTerm& term : terms) term.events = term.rows / 3;
    EXPECT_EQ(ChooseLinearMethod(terms, 0.1), chosen);
    return chosen;
  };
  EXPECT_EQ(method({{1.0, 0, 50}, {-1.0, 0, 70}}), LinearMethod::kTwoBinomials);
  EXPECT_EQ(method(std::vector<BinomialTerm>(10, {0.1, 0, 50})), LinearMethod::kChernoff);
  // One term that dwarfs the others leaves nothing to pool.
  EXPECT_EQ(method({{1.0, 0, 50}, {1e-4, 0, 70}, {1e-4, 0, 70}}), LinearMethod::kUnion);
  EXPECT_NE(method({{1.0, 0, 3'000'000}, {-1.0, 0, 70}}), LinearMethod::kTwoBinomials);
}

TEST(LinearBounds, ManyTermsPool) {
  const std::vector<BinomialTerm> terms(10, {0.1, 20, 200});
  const double chernoff = LinearUpperBound(terms, 0.1);
  EXPECT_LT(chernoff, LinearUpperBound(terms, 0.1, LinearMethod::kUnion));
  EXPECT_GT(chernoff, BinomialUpperBound(200, 2000, 0.1));  // what is exact if all rates are equal
}

TEST(RatioBound, FailsNoMoreOftenThanDelta) {
  constexpr std::int64_t kTop = 11, kBottom = 14;
  constexpr int kSteps = 80;
  for (const double target : {0.5, 0.8, 1.25}) {
    std::vector<std::vector<double>> bounds;
    for (std::int64_t i = 0; i <= kTop; ++i) {
      bounds.emplace_back();
      for (std::int64_t j = 0; j <= kBottom; ++j) {
        bounds.back().push_back(RatioLowerBound({i, kTop}, {j, kBottom}, target, 0.1));
      }
    }
    double worst = 0.0;
    ForEachRates(2, kSteps, [&](const std::vector<double>& rates) {
      if (rates[1] == 0.0) return;
      const double truth = rates[0] / rates[1];
      const std::vector<double> top = Distribution(kTop, rates[0]);
      const std::vector<double> bottom = Distribution(kBottom, rates[1]);
      double failure = 0.0;
      for (std::size_t i = 0; i < top.size(); ++i) {
        for (std::size_t j = 0; j < bottom.size(); ++j) {
          if (bounds[i][j] > truth + 1e-12) failure += top[i] * bottom[j];
        }
      }
      worst = std::max(worst, failure);
    });
    EXPECT_LE(worst, 0.1) << target;
    EXPECT_GT(worst, 0.05) << target;  // and is of use
  }
}

TEST(RatioBound, NarrowsWithRows) {
  const double few = RatioLowerBound({45, 100}, {50, 100}, 0.8, 0.1);
  const double many = RatioLowerBound({4500, 10000}, {5000, 10000}, 0.8, 0.1);
  EXPECT_LT(few, many);
  EXPECT_LT(many, 0.9);
  EXPECT_GT(many, 0.88);
  EXPECT_NEAR(RatioLowerBound({0, 100}, {50, 100}, 0.8, 0.1), 0.0, 1e-3);
}

TEST(LinearBounds, RefuseWhatIsNoTerm) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refuses = [](const std::vector<BinomialTerm>& terms) {
    EXPECT_THROW(LinearUpperBound(terms, 0.1), std::invalid_argument);
    EXPECT_THROW(ChernoffPValue(terms, 0.1), std::invalid_argument);
  };
  refuses({});
  refuses({{0.0, 1, 2}});
  refuses({{nan, 1, 2}});
  refuses({{1.0, 0, 0}});
  refuses({{1.0, 3, 2}});
  const std::vector<BinomialTerm> one = {{1.0, 1, 2}};
  EXPECT_THROW(LinearUpperBound(one, 0.1, LinearMethod::kTwoBinomials), std::invalid_argument);
  const std::vector<BinomialTerm> two = {{1.0, 1, 2}, {-1.0, 1, 2}};
  EXPECT_EQ(testing::ErrorOf([&] { LinearUpperBound(two, 0.1, LinearMethod::kBinomial); }),
            "terms: 2; allowed: 1 for this method");
  EXPECT_THROW(LinearUpperBound(one, nan), std::invalid_argument);
  EXPECT_THROW(ChernoffPValue(one, nan), std::invalid_argument);
  EXPECT_THROW(RatioLowerBound({1, 2}, {1, 2}, 0.0, 0.1), std::invalid_argument);
  EXPECT_THROW(RatioLowerBound({1, 0}, {1, 2}, 0.8, 0.1), std::invalid_argument);
}

}  // namespace
}  // namespace bregboost
