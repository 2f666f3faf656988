// WholeContent: the complete body of a reply, written in pieces as there is room.
//
// Owns       the body, if the reply owned it.
// Borrows    otherwise the bytes that the reply referred to, which outlive it.
// Thread     its reactor's.
// Allocates  never.
#pragma once

#include <cstddef>
#include <utility>

#include "katana/base/text/text.hpp"
#include "katana/http/handlers/reply.hpp"

namespace katana::detail {

class WholeContent final : public ContentSource {
 public:
  // `stays` is the body when `owned` is empty.
  WholeContent(Text owned, Bytes stays, std::size_t piece_bytes) noexcept
      : owned_(std::move(owned)),
        left_(owned_.empty() ? stays : owned_.bytes()),
        piece_bytes_(piece_bytes) {}
  std::size_t held_bytes() const noexcept override { return owned_.capacity(); }
  bool produce(ContentSink& sink) override {
    while (!left_.empty()) {
      const Bytes piece = left_.substr(0, piece_bytes_);
      if (!sink.write(piece)) return false;
      left_.remove_prefix(piece.size());
    }
    return true;
  }

 private:
  const Text owned_;
  Bytes left_;
  const std::size_t piece_bytes_;
};

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
