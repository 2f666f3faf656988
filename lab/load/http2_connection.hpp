// Http2Connection: the state of an HTTP/2 connection beside its descriptor. Http2Side: the state
// that all connections of a worker share.
//
// Owns       the machine, its output, and an exchange for each stream that may be open.
// Borrows    the context and the blocks of its side; the request bodies, until they are sent.
// Thread     its worker's.
// Allocates  when made.
// Invariant  an exchange is free, or its stream is the machine's.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "katana/base/memory/block_pool.hpp"
#include "katana/base/memory/outbox.hpp"
#include "katana/wire/http2/client_machine.hpp"
#include "lab/load/connection.hpp"
#include "lab/load/plan.hpp"
#include "lab/load/target.hpp"

namespace katana::load {

// A request in flight, and what came of its reply.
struct Exchange : http2::ClientStream {
  InFlight request{};
  Bytes unsent;
  Answer answer;
};

class Http2Connection {
 public:
  Http2Connection(http2::ClientContext& context, BlockPool& blocks, std::uint32_t streams);

  // A connection is opened: the preface is to be sent, and all exchanges are free.
  void begin(Instant now);

  http2::ClientMachine& machine() noexcept { return *machine_; }
  const http2::ClientMachine& machine() const noexcept { return *machine_; }
  Outbox& outbox() noexcept { return outbox_; }
  const Outbox& outbox() const noexcept { return outbox_; }
  // REQUIRES a free one: there are as many as streams.
  Exchange& take() noexcept;
  void give(Exchange& exchange) noexcept;
  // The one that was begun first; null: there is none.
  Exchange* first() const noexcept { return static_cast<Exchange*>(machine_->first()); }
  static Exchange* next(const Exchange& exchange) noexcept {
    return static_cast<Exchange*>(exchange.next_in_list());
  }

  std::uint32_t uploads = 0;  // exchanges whose content is not written
  bool has_answered = false;  // a request, since begin()

 private:
  http2::ClientContext& context_;
  Outbox outbox_;
  std::optional<http2::ClientMachine> machine_;
  std::vector<Exchange> exchanges_;
  std::vector<std::uint32_t> free_;
};

struct Http2Side {
  Http2Side(const LoadPlan& plan, const Target& target, std::size_t connections);

  std::size_t memory_bytes_max() const noexcept;

  http2::ClientContext context;
  BlockPool blocks;
  std::size_t block_bytes_max = 0;  // for the head of a request
  std::deque<Http2Connection> connections;
};

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
