#include "katana/wire/http2/frame_output.hpp"

#include <algorithm>
#include <array>

#include "katana/base/check.hpp"

namespace katana::http2 {

bool put_goaway(std::uint32_t last, ErrorCode code, Bytes detail, Outbox& outbox) noexcept {
  std::array<char, 128> payload;
  char* const text =
      put_number(put_number(payload.data(), last, 4), static_cast<std::uint32_t>(code), 4);
  detail = detail.substr(0, payload.size() - 8);
  if (!detail.empty()) std::memcpy(text, detail.data(), detail.size());
  const auto size = static_cast<std::uint32_t>(8 + detail.size());
  return put({size, FrameType::goaway, 0, 0}, {payload.data(), size}, outbox);
}

bool put_window(std::uint32_t stream, std::uint32_t bytes, Outbox& outbox) noexcept {
  std::array<char, 4> payload;
  put_number(payload.data(), bytes, 4);
  return put({4, FrameType::window_update, 0, stream}, {payload.data(), payload.size()}, outbox);
}

bool put_reset(std::uint32_t stream, ErrorCode code, Outbox& outbox) noexcept {
  std::array<char, 4> payload;
  put_number(payload.data(), static_cast<std::uint32_t>(code), 4);
  return put({4, FrameType::rst_stream, 0, stream}, {payload.data(), payload.size()}, outbox);
}

DataOutput put_data(std::uint32_t stream, Bytes& content, bool content_stays, bool last,
                    std::size_t output_max, std::int64_t& stream_window,
                    std::int64_t& connection_window, Outbox& outbox) noexcept {
  DataOutput output;
  do {
    const std::int64_t window =
        std::max<std::int64_t>(0, std::min(stream_window, connection_window));
    const std::size_t size =
        std::min({content.size(), static_cast<std::size_t>(window), frame_bytes_max, output_max});
    if (size == 0 && !content.empty()) return output;
    const bool ends = last && size == content.size();
    if (size == 0 && !ends) return output;
    const bool refers = content_stays && size > copied_bytes_max;
    output.has_capacity = outbox.has_capacity(frame_header_bytes + (refers ? 0 : size));
    if (!output.has_capacity) return output;
    const std::uint8_t flags = ends ? flag_end_stream : 0;
    KATANA_CHECK(
        put({static_cast<std::uint32_t>(size), FrameType::data, flags, stream}, {}, outbox));
    const Bytes piece = content.substr(0, size);
    KATANA_CHECK(refers ? outbox.refer(piece) : outbox.write(piece));
    content.remove_prefix(size);
    output_max -= size;
    stream_window -= static_cast<std::int64_t>(size);
    connection_window -= static_cast<std::int64_t>(size);
    ++output.frames;
    output.ends = ends;
  } while (!content.empty());
  return output;
}

bool give_back(std::uint32_t stream, std::size_t bytes, std::uint32_t window_bytes,
               std::uint32_t& unreturned, std::int64_t& window, Outbox& outbox) noexcept {
  unreturned += static_cast<std::uint32_t>(bytes);
  if (unreturned < window_bytes / 2) return true;
  if (!put_window(stream, unreturned, outbox)) return false;
  window += unreturned;
  unreturned = 0;
  return true;
}

}  // namespace katana::http2
