// Memory that nobody uses and that stays resident all the same.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__GLIBC__)
#include <malloc.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace bregboost::detail {

// Gives what was freed back to the operating system. Worth its few milliseconds after work that
// frees much and before work that lasts: glibc keeps what is not at the end of an arena, and every
// thread has an arena of its own.
inline void ReleaseUnusedMemory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

// Takes the pages away from an allocated array whose values are not needed any more but whose owner
// keeps it; they come back, as zeros, when touched again. Values near both ends may stay.
inline void DiscardPages(void* array, std::size_t bytes) {
#if defined(__linux__)
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(array);
  const std::uintptr_t begin = (address + page - 1) / page * page;
  const std::uintptr_t end = (address + bytes) / page * page;
  // Where it is refused nothing is lost.
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
#else
  static_cast<void>(array);
  static_cast<void>(bytes);
#endif
}

}  // namespace bregboost::detail
