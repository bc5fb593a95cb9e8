// Memory that the allocator keeps after it was freed.
#pragma once

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace bregboost::detail {

// Gives it back to the operating system. Worth its few milliseconds after work that frees much and
// before work that lasts: glibc keeps what is not at the end of an arena, and every thread has an
// arena of its own.
inline void ReleaseUnusedMemory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace bregboost::detail
