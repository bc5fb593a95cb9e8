// A training whose rows are spread over several processes, the workers. Every worker runs the same
// solver on rows of its own; all that a solver sees of the rows are sums by cell and a few norms,
// and these are added up over the workers. So all take the same steps, and what crosses the network
// does not grow with the rows.
//
// All workers make the same calls in the same order, with as many values.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace bregboost {

class Workers {
 public:
  virtual ~Workers() = default;

  virtual std::size_t rank() const = 0;
  virtual std::size_t size() const = 0;

  // The values become their sums over the workers, or their maxima: the same bits on all of them.
  virtual void Sum(std::span<double> values) const = 0;
  virtual void Max(std::span<double> values) const = 0;

  // The bytes of all workers, by rank.
  virtual std::vector<std::string> Gather(const std::string& mine) const = 0;
};

}  // namespace bregboost
