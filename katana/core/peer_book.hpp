// PeerBook: who is at the other end of each link. The engine is asked once, when somebody wants to
// know, and what it says is kept for as long as the link lives.
//
// Owns       24 bytes for each link of a page; a page comes with the first question about one of
//            its links. A server that nobody asks has none.
// Thread     its reactor's.
// Allocates  pages, once each. Without memory for one, every question goes to the engine.
// Fails      never: Family::none is a link whose peer was gone before it was asked for.
// Invariant  what was said of a link is never said of a later one in its place: generations differ.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "katana/engine/engine.hpp"

namespace katana::core {

class PeerBook {
 public:
  explicit PeerBook(std::size_t links_max) : pages_((links_max + page_links - 1) / page_links) {}

  // `ask()` is the engine's answer about this link.
  template <class Ask>
  engine::PeerEndpoint find(engine::Link link, const Ask& ask) noexcept {
    auto& page = pages_[link.index / page_links];
    if (page == nullptr) [[unlikely]]
      page.reset(new (std::nothrow) Page());
    if (page == nullptr) [[unlikely]]
      return ask();
    Entry& entry = (*page)[link.index % page_links];
    if (entry.generation == link.generation) [[likely]]
      return entry.peer;
    const engine::PeerEndpoint peer = ask();
    if (peer.family != engine::PeerEndpoint::Family::none) entry = {link.generation, peer};
    return peer;
  }

 private:
  static constexpr std::size_t page_links = 128;
  struct Entry {
    std::uint32_t generation = 0;  // which no link has
    engine::PeerEndpoint peer;
  };
  using Page = std::array<Entry, page_links>;
  static_assert(sizeof(Entry) == 24);

  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace katana::core
