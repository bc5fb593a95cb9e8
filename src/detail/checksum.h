// CRC-32: finds damage of any kind that happens by accident.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string_view>

namespace bregboost::detail {

inline std::uint32_t Checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace bregboost::detail
