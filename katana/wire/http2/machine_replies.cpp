// Writes replies: heads and content in frames, as the windows allow.
#include <algorithm>
#include <array>
#include <cstring>

#include "katana/wire/http/status.hpp"
#include "katana/wire/http2/machine.hpp"

namespace katana::http2 {
namespace {

bool is_replied(const Stream& stream) noexcept {
  return stream.state == StreamState::replied || stream.state == StreamState::closed;
}

}  // namespace

// Writes HEADERS, with its frame header. A client that made its table smaller gets the confirmation
// of OwnTable.
char* Machine::put_head(char* to, const Stream& stream, const http::ReplyHead& head,
                        std::int64_t content_length, bool last) noexcept {
  char* const block = to + frame_header_bytes;
  char* const end =
      context_->head_writer.write(frames_.own_table().put(block), head, content_length);
  const auto size = static_cast<std::uint32_t>(end - block);
  const auto flags =
      static_cast<std::uint8_t>(flag_end_headers | (last ? flag_end_stream : Flag{}));
  put_frame_header(to, {size, FrameType::headers, flags, stream.id});
  return end;
}

bool Machine::respond(Stream& stream, const http::ReplyHead& head, Bytes& content,
                      bool content_stays, std::size_t output_max, Instant now,
                      Outbox& outbox) noexcept {
  const bool has_content = http::status_has_content(head.status);
  if (head.status == http::reset_content) content = {};
  const std::int64_t length = has_content ? static_cast<std::int64_t>(content.size()) : -1;
  if (!has_content || stream.is_head_request) content = {};
  const std::size_t head_bytes = 2 * frame_header_bytes + 1 + context_->head_writer.bytes_max(head);
  const bool short_content = !content.empty() && content.size() <= copied_bytes_max &&
                             content.size() <= window(stream) && content.size() <= output_max &&
                             head_bytes + content.size() <= outbox.reserve_bytes_max();
  if (!short_content) {
    if (!begin_reply(stream, head, length, content.empty(), now, outbox)) return false;
    if (content.empty()) return true;
    return write_content(stream, content, content_stays, true, output_max, now, outbox);
  }
  char* const begin = outbox.reserve(head_bytes + content.size());
  if (begin == nullptr) return false;
  char* end = put_head(begin, stream, head, length, false);
  const auto size = static_cast<std::uint32_t>(content.size());
  end = put_frame_header(end, {size, FrameType::data, flag_end_stream, stream.id});
  std::memcpy(end, content.data(), content.size());
  end += content.size();
  outbox.commit(static_cast<std::size_t>(end - begin));
  frames_.note_sent(stream, size);
  content = {};
  end_reply(stream, now);
  return !closed();
}

bool Machine::begin_reply(Stream& stream, const http::ReplyHead& head, std::int64_t content_length,
                          bool last, Instant now, Outbox& outbox) noexcept {
  if (closed() || is_replied(stream)) return false;
  char* const begin =
      outbox.reserve(frame_header_bytes + 1 + context_->head_writer.bytes_max(head));
  if (begin == nullptr) return false;
  char* const end = put_head(begin, stream, head, content_length, last);
  outbox.commit(static_cast<std::size_t>(end - begin));
  if (last) end_reply(stream, now);
  return !closed();
}

bool Machine::write_content(Stream& stream, Bytes& content, bool content_stays, bool last,
                            std::size_t output_max, Instant now, Outbox& outbox) noexcept {
  if (closed() || is_replied(stream)) return false;
  const DataOutput output =
      frames_.put_data(stream, content, content_stays, last, output_max, outbox);
  if (output.ends) end_reply(stream, now);
  return output.has_capacity && !closed();
}

bool Machine::move_content(Stream& stream, Outbox& content, std::size_t output_max,
                           Outbox& outbox) noexcept {
  if (closed() || is_replied(stream)) return false;
  for (;;) {
    const std::size_t size =
        std::min({content.pending(), window(stream), frame_bytes_max, output_max});
    if (size == 0) return true;
    if (!outbox.has_capacity(frame_header_bytes + size)) return false;
    KATANA_CHECK(
        put({static_cast<std::uint32_t>(size), FrameType::data, 0, stream.id}, {}, outbox));
    for (std::size_t left = size; left != 0;) {
      iovec part{};
      KATANA_CHECK(content.gather({&part, 1}) == 1);
      const Bytes piece(static_cast<const char*>(part.iov_base), std::min(left, part.iov_len));
      KATANA_CHECK(outbox.write(piece));
      content.advance(piece.size());
      left -= piece.size();
    }
    output_max -= size;
    frames_.note_sent(stream, size);
  }
}

void Machine::send_continue(Stream& stream, Outbox& outbox) noexcept {
  if (closed() || stream.state != StreamState::open) return;
  std::array<char, 16> block;
  char* const end = put_field(frames_.own_table().put(block.data()), StaticName::status, "100");
  const auto size = static_cast<std::uint32_t>(end - block.data());
  if (!put({size, FrameType::headers, flag_end_headers, stream.id}, {block.data(), size}, outbox)) {
    fail(Failure::no_room, outbox);
  }
}

// While the request is still coming, the stream is not reset at once: some clients would then drop
// the reply, too.
void Machine::end_reply(Stream& stream, Instant now) noexcept {
  const bool complete = stream.state == StreamState::replying;
  go(stream, StreamCause::reply_ends);
  if (complete) let_go(stream, Past::ended, now);
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
