// Whether there is memory left for what cannot say that there is none.
#pragma once

#include <cstddef>
#include <new>

namespace bregboost::detail {

// Throws std::bad_alloc unless `bytes` could be allocated now. For calls into a library that ends
// the process where memory runs out, in the midst of its threads or of what promises not to throw.
inline void RequireRoom(std::size_t bytes) { ::operator delete(::operator new(bytes)); }

// For a library that reads a model of so many bytes, which it makes small objects of, or writes
// one: then 0, as nobody knows its size.
inline void RequireRoomForModel(std::size_t bytes) {
  constexpr std::size_t kAtLeast = std::size_t{32} << 20, kPerByte = 32;
  RequireRoom(kAtLeast + kPerByte * bytes);
}

}  // namespace bregboost::detail
