#include "katana/service/streaming.hpp"

#include <stdexcept>
#include <utility>

namespace katana::detail {

bool Stream::on_content(Bytes piece, bool last) noexcept {
  received_.append(piece);
  ended_ = last;
  if (reader_ && (last || received_.size() >= wanted_)) std::exchange(reader_, {}).resume();
  return static_cast<bool>(reader_);
}

void Stream::on_room() noexcept {
  if (!writer_ || !exchange_.write(unwritten_)) return;
  left_ -= unwritten_.size();
  std::exchange(writer_, {}).resume();
}

void Stream::begin(const Reply& reply, std::int64_t length) {
  if (begun_) return;
  if (!has_middleware_) {
    begin_with(reply, length);
    return;
  }
  Reply head = reply.copy_of_head();
  run_middleware(head);
  begin_with(head, length);
}

void Stream::begin_with(const Reply& reply, std::int64_t length) {
  if (reply.invalid()) {
    throw std::invalid_argument("a streamed reply has a malformed status, type or field");
  }
  begun_ = true;
  left_ = length >= 0 ? static_cast<std::uint64_t>(length) : UINT64_MAX;
  if (reply.closes()) exchange_.close_after_reply();
  exchange_.begin_reply({.status = reply.status(),
                         .content_type = reply.content_type(),
                         .fields = reply.fields(),
                         .content_length = length});
}

bool Stream::write(Bytes content) {
  if (!begun_) throw std::logic_error("ReplyWriter::write() before begin()");
  if (content.size() > left_) throw std::logic_error("more content than begin() announced");
  if (!exchange_.write(content)) return false;
  left_ -= content.size();
  return true;
}

}  // namespace katana::detail
