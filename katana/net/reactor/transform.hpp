// Transform: a layer between the bytes of a link and those of its session: TLS, or, while it lasts,
// the header of a proxy.
// TransformFactory: makes the transforms of one listener; one instance per reactor.
//
// A session above a transform does not notice it. It is offered the plaintext of receive(), and its
// output in the connection's outbox goes through seal(). It is opened when the transform is open:
// it knows the agreed protocol (application_protocol()) from the beginning.
//
// Owns       output(): the bytes to send on the link, in blocks of the reactor's pool.
// Borrows    the arguments of receive() and seal(), for the call.
// Thread     its reactor's.
// Fails      Event::failed; the transform counts the reason. Nothing can be received or sealed
//            after it, and output() holds the message to the other side.
// Invariant  receive() holds no plaintext back: need_bytes means that all available plaintext was
//            returned.
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

// The outcome of receive().
enum class TransformEvent : std::uint8_t {
  need_bytes,  // nothing to report until more bytes come
  bytes,       // `produced` bytes for the session
  costly,      // the next step takes long: it waits for admit(), and is reported until then
  opened,      // the session can be opened
  ended,       // the other side has said that it sends no more
  handed_on,   // it is done: hand_on() returns its successor
  failed,      // nothing can be received or sent any more
};

// The result of one call of receive().
struct TransformStep {
  TransformEvent event = TransformEvent::need_bytes;  // the outcome
  std::size_t consumed = 0;                           // bytes of the input that were used
  std::size_t produced = 0;                           // bytes of plaintext that were written
};

class Transform;

// The successor of a transform that is done.
struct HandedOn {
  std::unique_ptr<Transform> next;           // null: the session reads the bytes of the link
  std::optional<engine::PeerEndpoint> peer;  // the client that was named; none: unchanged
  bool failed = false;                       // there is no memory for the next one
};

// The reason why a connection is given up before the other side has ended its stream.
enum class TransformCut : std::uint8_t { input_ended, timed_out };

class Transform : private ListHook<Transform> {
 public:
  explicit Transform(BlockPool& blocks) noexcept : output_(blocks) {}
  virtual ~Transform() = default;
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;

  // Reports at most one event. Writes as much plaintext to `plain` as is available and fits.
  virtual TransformStep receive(Bytes input, std::span<char> plain, Instant now) noexcept = 0;
  virtual void admit() noexcept = 0;
  // Seals the first bytes of `plain`, at most one record. Returns their number; 0: the pool has too
  // few blocks at present. REQUIRES opened; plain is not empty.
  virtual std::size_t seal(Bytes plain) noexcept = 0;
  // False: nothing can be sealed any more.
  virtual bool can_seal() const noexcept = 0;
  // Tells the other side that no more bytes follow. Sent once, however often it is called.
  virtual void seal_end() noexcept = 0;
  // The input has ended or is given up.
  virtual void cut(TransformCut why) noexcept = 0;
  // The protocol on which both sides agreed, as ALPN names it ("h2", "http/1.1"); empty: none.
  // Valid as long as the transform.
  virtual Bytes application_protocol() const noexcept = 0;
  // The verified certificate of the other side; null: none. Valid as long as the transform.
  virtual const PeerCertificate* peer_certificate() { return nullptr; }

  // REQUIRES Event::handed_on of an input that was received, and no pending output.
  virtual HandedOn hand_on() noexcept { return {}; }
  // The timeout for opening or handing on; `usual` is that of the reactor.
  virtual Duration opening_timeout(Duration usual) const noexcept { return usual; }

  // The bytes to send on the link.
  Outbox& output() noexcept { return output_; }

 protected:
  Outbox output_;

 private:
  friend class LinkedList<Transform>;
  friend class WaitingTransforms;
  Connection* connection_ = nullptr;  // it waits; null: it does not
};

// Makes the transforms of one listener.
class TransformFactory {
 public:
  virtual ~TransformFactory() = default;
  // Null: there is no memory for one, and the connection is refused.
  virtual std::unique_ptr<Transform> make(BlockPool& blocks) noexcept = 0;
  // The most heap memory of one transform: for the printed budget.
  virtual std::size_t heap_bytes_each() const noexcept { return 0; }
};

// Working memory of transforms, shared by all connections; nothing stays in it between calls.
struct TransformBuffers {
  explicit TransformBuffers(std::size_t receive_bytes_max)
      : plain(receive_bytes_max), waited(receive_bytes_max) {}
  std::vector<char> plain;                // received plaintext
  std::vector<char> waited;               // input behind a handshake that had to wait
  std::array<char, record_bytes> record;  // output that lies in pieces
};

// Connections that wait for admit(), the longest waiting one first.
class WaitingTransforms {
 public:
  bool empty() const noexcept { return list_.empty(); }

  // Adds it at the end.
  void push(Transform& transform, Connection& connection) noexcept {
    transform.connection_ = &connection;
    list_.push_back(transform);
  }
  // REQUIRES not empty().
  Connection& pop() noexcept { return *std::exchange(list_.pop_front().connection_, nullptr); }
  // Does nothing if it does not wait.
  void remove(Transform& transform) noexcept {
    if (std::exchange(transform.connection_, nullptr) != nullptr) list_.remove(transform);
  }

 private:
  LinkedList<Transform> list_;
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
