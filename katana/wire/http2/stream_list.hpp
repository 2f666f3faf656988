// StreamList: the streams of a connection that are not over, in the order of their ids.
//
// Owns       nothing: a stream is its caller's, a ListHook with `id` and `send_window`.
// Thread     its machine's.
// Allocates  never.
// Invariant  ids ascend from first() to last().
#pragma once

#include <cstdint>

#include "katana/base/memory/linked_list.hpp"
#include "katana/wire/http2/frame.hpp"

namespace katana::http2 {

template <class Stream>
class StreamList : public LinkedList<Stream> {
 public:
  // null: it is not here.
  Stream* find(std::uint32_t id) const noexcept {
    // The latest are asked for most.
    for (Stream* each = this->last(); each != nullptr && each->id >= id;
         each = each->prev_in_list()) {
      if (each->id == id) return each;
    }
    return nullptr;
  }

  // The other side changed the window that streams begin with (RFC 9113 §6.9.2). False: one is too
  // large.
  bool widen(std::int64_t more) noexcept {
    for (Stream* each = this->first(); each != nullptr; each = each->next_in_list()) {
      if (each->send_window + more > window_bytes_max) return false;
      each->send_window += more;
    }
    return true;
  }
};

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
