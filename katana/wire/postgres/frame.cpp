#include "katana/wire/postgres/frame.hpp"

#include "katana/wire/postgres/byte_reader.hpp"

namespace katana::postgres {
namespace {

static_assert(reply_bytes.size() == reply_count);

constexpr std::array<std::uint8_t, 256> reply_by_byte = [] {
  std::array<std::uint8_t, 256> made{};
  made.fill(reply_count);
  for (std::size_t at = 0; at < reply_count; ++at) {
    made[static_cast<unsigned char>(reply_bytes[at])] = static_cast<std::uint8_t>(at);
  }
  return made;
}();

// The sizes of a message with its header.
struct Bound {
  std::size_t min;
  std::size_t max;
};

// A body of exactly so many bytes.
constexpr Bound exactly(std::size_t body) { return {header_bytes + body, header_bytes + body}; }

Bound bound_of(Reply type, const Limits& limits) noexcept {
  switch (type) {
    case Reply::bind_complete:
    case Reply::close_complete:
    case Reply::copy_done:
    case Reply::empty_query:
    case Reply::no_data:
    case Reply::parse_complete:
    case Reply::portal_suspended: return exactly(0);
    case Reply::ready: return exactly(1);
    case Reply::backend_key: return {header_bytes + 8, cancel_key_message_bytes_max};
    case Reply::authentication: return {header_bytes + 4, limits.authentication_bytes_max};
    case Reply::negotiate_version: return {header_bytes + 8, limits.authentication_bytes_max};
    case Reply::command_complete: return {header_bytes + 2, limits.message_bytes_max};
    case Reply::notification: return {header_bytes + 6, limits.message_bytes_max};
    case Reply::parameter_status: return {header_bytes + 2, limits.message_bytes_max};
    case Reply::copy_in:
    case Reply::copy_out: return {header_bytes + 3, limits.description_bytes_max};
    case Reply::parameter_description:
    case Reply::row_description: return {header_bytes + 2, limits.description_bytes_max};
    case Reply::error:
    case Reply::notice: return {header_bytes + 1, limits.report_bytes_max};
    case Reply::copy_data: return {header_bytes, limits.row_bytes_max};
    case Reply::data_row: return {header_bytes + 2, limits.row_bytes_max};
    case Reply::count_: break;
  }
  return {};
}

}  // namespace

Frame read_frame(Bytes input, const Limits& limits) noexcept {
  if (input.empty()) return {.size = header_bytes};
  const auto type = Reply{reply_by_byte[static_cast<unsigned char>(input.front())]};
  if (type == Reply::count_) return {.refusal = Refusal::unknown_message};
  if (input.size() < header_bytes) return {.size = header_bytes};
  const std::size_t size = std::size_t{ByteReader(input.substr(1, 4)).take_32()} + 1;
  const Bound bound = bound_of(type, limits);
  if (size < bound.min) return {.refusal = Refusal::bad_length};
  if (size > bound.max) {
    const bool is_fixed = bound.min == bound.max;
    return {.refusal = is_fixed ? Refusal::bad_length : Refusal::message_too_large};
  }
  if (input.size() < size) return {.size = size};
  return {.type = type, .size = size, .body = input.substr(header_bytes, size - header_bytes)};
}

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
