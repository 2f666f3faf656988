// Transform: what stands between the bytes of a link and those of its session: TLS, or for as long
// as it lasts the header of a proxy.
// TransformFactory: makes the transforms of one listener; one instance per reactor.
//
// A session above a transform does not notice it: it is offered what receive() made of the link's
// bytes, and what it puts into the connection's outbox goes through seal(). It is opened when the
// transform is, so what was agreed on (application_protocol()) is known to it from the beginning.
//
// Owns       output(): what is to be sent on the link, in blocks of the reactor's pool.
// Borrows    what receive() and seal() are given, for the call.
// Thread     its reactor's.
// Fails      Event::failed; why is the transform's to count. Nothing can be received or sealed
//            after it, and output() says what the other side is to know of it.
// Invariant  receive() holds no plaintext back: need_bytes means that all there is has been given.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "katana/base/memory/linked_list.hpp"
#include "katana/base/memory/outbox.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/net/engine/engine.hpp"
#include "katana/net/reactor/peer_certificate.hpp"
#include "katana/net/reactor/records.hpp"

namespace katana::net {

class Connection;

// What receive() has come to.
enum class TransformEvent : std::uint8_t {
  need_bytes,  // nothing to report until more bytes come
  bytes,       // `produced` bytes for the session
  costly,      // what comes next takes long: it waits for admit(), and is reported until then
  opened,      // the session can be opened
  ended,       // the other side has said that it sends no more
  handed_on,   // it has done its part: hand_on() says who goes on
  failed,      // nothing can be received or sent any more
};

// What one call of receive() did.
struct TransformStep {
  TransformEvent event = TransformEvent::need_bytes;  // what was found
  std::size_t consumed = 0;                           // bytes of the input that were used
  std::size_t produced = 0;                           // bytes of plaintext that were written
};

class Transform;

// What follows a transform that has done its part.
struct HandedOn {
  std::unique_ptr<Transform> next;           // null: the session's bytes are those of the link
  std::optional<engine::PeerEndpoint> peer;  // whom the connection is from; none: as it was
  bool failed = false;                       // there is no memory for the next one
};

// Why a connection is given up before the other side has said that it sends no more.
enum class TransformCut : std::uint8_t { input_ended, timed_out };

class Transform : private ListHook<Transform> {
 public:
  explicit Transform(BlockPool& blocks) noexcept : output_(blocks) {}
  virtual ~Transform() = default;
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;

  // At most one event. Plaintext is written to `plain`, as much as there is and fits.
  virtual TransformStep receive(Bytes input, std::span<char> plain, Instant now) noexcept = 0;
  virtual void admit() noexcept = 0;
  // Makes output of the first bytes of `plain`, of all that one record holds. Returns how many; 0:
  // the pool has too few blocks at present. REQUIRES opened; plain is not empty.
  virtual std::size_t seal(Bytes plain) noexcept = 0;
  // False: nothing can be sealed any more.
  virtual bool can_seal() const noexcept = 0;
  // Tells the other side that nothing follows. Said once, however often it is called.
  virtual void seal_end() noexcept = 0;
  // The input is over, or is given up.
  virtual void cut(TransformCut why) noexcept = 0;
  // What both sides agreed to speak, as ALPN names it ("h2", "http/1.1"); empty: nothing was said.
  // Stays as long as the transform.
  virtual Bytes application_protocol() const noexcept = 0;
  // What the other side has shown and what was verified; null: nothing. Stays as long as the
  // transform.
  virtual const PeerCertificate* peer_certificate() { return nullptr; }

  // REQUIRES Event::handed_on, of an input that was received; and nothing is pending.
  virtual HandedOn hand_on() noexcept { return {}; }
  // How long it may take to open, or to hand on; `usual` is that of the reactor.
  virtual Duration opening_timeout(Duration usual) const noexcept { return usual; }

  // What is to be sent on the link.
  Outbox& output() noexcept { return output_; }

 protected:
  Outbox output_;

 private:
  friend class LinkedList<Transform>;
  friend class WaitingTransforms;
  Connection* connection_ = nullptr;  // that waits; null: it does not
};

// Makes the transforms of one listener.
class TransformFactory {
 public:
  virtual ~TransformFactory() = default;
  // Null: there is no memory for one, and the connection is refused.
  virtual std::unique_ptr<Transform> make(BlockPool& blocks) noexcept = 0;
  // What one has on the heap at most: for the budget that is printed.
  virtual std::size_t heap_bytes_each() const noexcept { return 0; }
};

// What transforms work in; shared by all connections, and nothing stays in it.
struct TransformBuffers {
  explicit TransformBuffers(std::size_t receive_bytes_max)
      : plain(receive_bytes_max), waited(receive_bytes_max) {}
  std::vector<char> plain;                // what was received
  std::vector<char> waited;               // what came behind a handshake that had to wait
  std::array<char, record_bytes> record;  // what is to be sent, if it lies in pieces
};

// Connections that wait for admit(), the one that waits longest first.
class WaitingTransforms {
 public:
  bool empty() const noexcept { return list_.empty(); }

  // At the end of the line.
  void push(Transform& transform, Connection& connection) noexcept {
    transform.connection_ = &connection;
    list_.push_back(transform);
  }
  // REQUIRES not empty().
  Connection& pop() noexcept { return *std::exchange(list_.pop_front().connection_, nullptr); }
  // Nothing if it does not wait.
  void remove(Transform& transform) noexcept {
    if (std::exchange(transform.connection_, nullptr) != nullptr) list_.remove(transform);
  }

 private:
  LinkedList<Transform> list_;
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
