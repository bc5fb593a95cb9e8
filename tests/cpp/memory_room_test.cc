#include "detail/memory_room.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <new>

// Sanitizers end the process where it asks for too much memory.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BREGBOOST_TEST_ENDS_WITHOUT_MEMORY
#endif
#endif

namespace bregboost::detail {
namespace {

TEST(MemoryRoom, IsThereForASmallModel) { EXPECT_NO_THROW(RequireRoomForModel(1 << 10)); }

TEST(MemoryRoom, ThatIsNotThereIsAnError) {
#if defined(BREGBOOST_TEST_ENDS_WITHOUT_MEMORY)
  GTEST_SKIP() << "a sanitizer ends the process";
#endif
  EXPECT_THROW(RequireRoom(std::numeric_limits<std::ptrdiff_t>::max()), std::bad_alloc);
}

}  // namespace
}  // namespace bregboost::detail
