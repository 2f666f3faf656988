#include "katana/service/streaming.hpp"

#include <utility>

namespace katana {
namespace detail {

bool Stream::on_content(Bytes piece, bool last) noexcept {
  received_.append(piece);
  ended_ = last;
  if (reader_ && (last || received_.size() >= wanted_)) std::exchange(reader_, nullptr).resume();
  return reader_ != nullptr;
}

void Stream::on_room() noexcept {
  if (!writer_ || !exchange_.write(unwritten_)) return;
  std::exchange(writer_, nullptr).resume();
}

}  // namespace detail

void ReplyWriter::begin(const Reply& reply, std::int64_t length) noexcept {
  if (stream_->exchange_.reply_begun()) return;
  stream_->exchange_.begin_reply({.status = reply.status(),
                                  .content_type = reply.content_type(),
                                  .fields = reply.fields(),
                                  .content_length = length});
}

}  // namespace katana
