// exp, log1p and the largest of several over arrays with the widest vectors that the running
// processor has. Each element's result depends on that element alone, and NaN stays NaN.
#pragma once

#include <cstddef>

namespace bregboost::detail {

// out[i] = exp(x[i]); for x <= 700, which log-sum-exp guarantees. In place is allowed.
void ExpArray(const double* x, std::size_t n, double* out);

// sigmoid[i] = 1 / (1 + exp(-x[i]));  tail[i] = log(1 + exp(-|x[i]|)), so that
// log(1 + exp(x)) = tail + max(x, 0) without overflow or cancellation.
void LogisticArray(const double* x, std::size_t n, double* sigmoid, double* tail);
// The sigmoid alone, where no loss value is needed.
void SigmoidArray(const double* x, std::size_t n, double* sigmoid);

// first[i] = the smallest k with the largest of columns[k * stride + i], k < num_columns; NaN if
// one of them is.
void FirstLargestArray(const double* columns, std::size_t stride, std::size_t num_columns,
                       std::size_t n, double* first);

}  // namespace bregboost::detail
