// Settings: how they are written, and the values that must not be sent (RFC 9113 §6.5).
#pragma once

#include <cstdint>

#include "katana/wire/http2/failure.hpp"
#include "katana/wire/http2/frame.hpp"
#include "katana/wire/http2/limits.hpp"

namespace katana::http2 {

inline constexpr std::size_t setting_bytes = 6;  // identifier and value

// Writes setting_bytes; returns their end.
inline char* put_setting(char* to, Setting setting, std::uint32_t value) noexcept {
  return put_number(put_number(to, static_cast<std::uint16_t>(setting), 2), value, 4);
}

// Those that both roles announce.
inline char* put_shared_settings(char* to, const Limits& limits) noexcept {
  to = put_setting(to, Setting::initial_window_size, limits.stream_window_bytes);
  return put_setting(to, Setting::max_header_list_size,
                     static_cast<std::uint32_t>(limits.head_bytes_max));
}

// Unknown settings have no meaning (RFC 9113 §6.5.2).
constexpr Failure judge(Setting setting, std::uint32_t value) noexcept {
  switch (setting) {
    case Setting::enable_push: return value <= 1 ? Failure::none : Failure::bad_settings;
    case Setting::max_frame_size:
      return value >= frame_bytes_max && value < (1u << 24) ? Failure::none : Failure::bad_settings;
    case Setting::initial_window_size:
      return value <= window_bytes_max ? Failure::none : Failure::flow_control;
    default: return Failure::none;
  }
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
