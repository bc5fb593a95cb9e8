// What every fuzz target is made of. A target takes any bytes; exceptions that the headers document
// are caught there, and whatever else leaves it ends the process, which is a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "detail/checksum.h"

// libFuzzer calls it, or replay_main.cc. Returns 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace bregboost::fuzz {

inline std::string_view TextOf(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// True for one input in `many`, the same ones each time: for what takes long and seldom differs.
inline bool IsOneIn(std::uint32_t many, std::string_view bytes) {
  return detail::Checksum(bytes) % many == 0;
}

// Ends the process unless `holds`: what the target promises of accepted inputs.
inline void Require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

}  // namespace bregboost::fuzz
