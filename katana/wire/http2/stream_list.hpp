// StreamList: the streams of a connection that are not over, in the order of their ids.
//
// Owns       nothing: a stream is its caller's, and has `next`, `previous`, `id` and `send_window`.
// Thread     its machine's.
// Allocates  never.
// Invariant  ids ascend from first() to last().
#pragma once

#include <cstdint>

#include "katana/wire/http2/frame.hpp"

namespace katana::http2 {

template <class Stream>
class StreamList {
 public:
  Stream* first() const noexcept { return first_; }
  Stream* last() const noexcept { return last_; }
  std::uint32_t count() const noexcept { return count_; }
  bool empty() const noexcept { return first_ == nullptr; }

  Stream* find(std::uint32_t id) const noexcept {
    // The latest are asked for most.
    for (Stream* each = last_; each != nullptr && each->id >= id; each = each->previous) {
      if (each->id == id) return each;
    }
    return nullptr;
  }

  // REQUIRES an id beyond that of last().
  void append(Stream& stream) noexcept {
    stream.previous = last_;
    (last_ != nullptr ? last_->next : first_) = &stream;
    last_ = &stream;
    ++count_;
  }

  void remove(Stream& stream) noexcept {
    (stream.previous != nullptr ? stream.previous->next : first_) = stream.next;
    (stream.next != nullptr ? stream.next->previous : last_) = stream.previous;
    stream.next = stream.previous = nullptr;
    --count_;
  }

  // The peer changed the window that streams begin with (RFC 9113 §6.9.2). False: one is too large.
  bool widen(std::int64_t more) noexcept {
    for (Stream* each = first_; each != nullptr; each = each->next) {
      if (each->send_window + more > window_bytes_max) return false;
      each->send_window += more;
    }
    return true;
  }

 private:
  Stream* first_ = nullptr;
  Stream* last_ = nullptr;
  std::uint32_t count_ = 0;
};

}  // namespace katana::http2
