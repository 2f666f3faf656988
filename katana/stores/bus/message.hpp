// Publication: a message to publish. Delivery: a message as a subscriber gets it. HeldMessage: a
// message that is kept.
//
//   bus.publish({.subject = "prices.tea", .payload = "42"});
//
//   [&](const bus::Delivery& message) {                      // on the subscriber's reactor
//     outbox.refer(message.payload(), message.memory());     // no copy
//     kept.push_back(message.hold());
//   }
//
// A message lies in one block (base/memory/batch.hpp), whatever the number of its subscribers. Its
// payload may lie in a block that exists already, such as a batch of a chat room. This block is
// then shared.
//
//   Envelope   the fields in front of the texts of a message, in its block
//   Posted     a share of the blocks of a message, for another thread
//
// Owns       a HeldMessage its reactor's references to the blocks; a Posted a share of each.
// Borrows    a Publication everything, for the call; a Delivery everything, for the call.
// Thread     Delivery and HeldMessage one: their reactor's. Posted any.
// Allocates  make_message() one block, from the recycler; adopt() a Batch for each block.
// Fails      check_publication() with an Error that names the limit. std::bad_alloc.
// Invariant  a message does not change once it has been published.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "katana/base/memory/batch.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::bus {

// One line of a message's headers; both parts are borrowed.
struct Header {
  Bytes name;   // compared ignoring case; may come several times
  Bytes value;  // blanks in front of it are lost
};

// Whether these are names of one header: they are compared ignoring case.
bool is_same_header(Bytes left, Bytes right) noexcept;

inline constexpr std::size_t header_bytes_max = 4096;  // of a message, all together

struct Publication {
  Bytes subject;                         // without wildcards (subject.hpp)
  Bytes payload = {};                    // any bytes; at most BusOptions::payload_bytes_max
  Bytes reply_to = {};                   // a subject; empty: no answer is expected
  std::span<const Header> headers = {};  // names without ':' and blanks, values without line ends
  // A stream stores one message of each id (streams.hpp). Empty: the message has no id.
  Bytes id = {};
  // The block of the payload, which is shared, not copied. Null: the payload is copied, once.
  Batch* memory = nullptr;
};

// Checks the subject, the reply's subject, the headers, and the payload's size.
Result<void> check_publication(const Publication& publication, std::size_t payload_bytes_max);

// The publisher of a message on a bus that counts: `sequence` is 1 more for each message that this
// publisher publishes to this subject.
struct Origin {
  std::uint64_t publisher = 0;  // 0: the publisher does not count
  std::uint64_t sequence = 0;   // from 1; the upper bits are a generation (sequence.hpp)
};

namespace detail {

struct Envelope {
  Block* payload_block = nullptr;  // null: the payload lies behind the texts
  const char* payload = nullptr;
  std::uint32_t payload_size = 0;
  std::uint32_t headers_size = 0;  // "Name: value\r\n", for each
  std::uint16_t subject_size = 0;
  std::uint16_t reply_size = 0;
  std::uint16_t status = 0;  // of an answer that the bus itself gives; 0: it is a message
  bool is_from_here = false;
  Origin origin;

  Bytes subject() const noexcept { return {texts(), subject_size}; }
  Bytes reply_to() const noexcept { return {texts() + subject_size, reply_size}; }
  Bytes headers() const noexcept { return {texts() + subject_size + reply_size, headers_size}; }
  const char* texts() const noexcept { return reinterpret_cast<const char*>(this + 1); }
};

inline const Envelope& envelope_of(const Block& block) noexcept {
  return *reinterpret_cast<const Envelope*>(block.bytes().data());
}

}  // namespace detail

class HeldMessage;

// A message that is valid for the call of the handler; hold() keeps it longer.
class Delivery {
 public:
  Delivery(Batch& batch, Batch& memory) noexcept : batch_(&batch), memory_(&memory) {}

  // The subject as it was published, not the pattern.
  Bytes subject() const noexcept { return envelope().subject(); }
  // Lies in memory(), and stays there while that is retained.
  Bytes payload() const noexcept { return {envelope().payload, envelope().payload_size}; }
  // The subject to which an answer has to be published; empty: none is expected.
  Bytes reply_to() const noexcept { return envelope().reply_to(); }
  // The first of that name, ignoring case.
  std::optional<Bytes> header(Bytes name) const noexcept;
  // "Name: value\r\n", for each of them.
  Bytes headers() const noexcept { return envelope().headers(); }
  // This process has published it.
  bool is_from_here() const noexcept { return envelope().is_from_here; }
  Origin origin() const noexcept { return envelope().origin; }
  // Not 0: this is no message, but an answer of the bus to a request, such as 503: there is no
  // subscriber to answer it. The payload is then the server's text for it, if it has any.
  std::uint16_t status() const noexcept { return envelope().status; }

  // This reactor's hold on the memory of the payload: retain() and let_go(), or Outbox::refer().
  Batch& memory() const noexcept { return *memory_; }
  // The hold on the memory of the whole message; the same when the payload lies there.
  Batch& batch() const noexcept { return *batch_; }
  HeldMessage hold() const noexcept;
  // The memory that stays allocated while the message is kept.
  std::size_t allocated_bytes() const noexcept {
    return batch_->allocated_bytes() + (memory_ != batch_ ? memory_->allocated_bytes() : 0);
  }

 protected:
  // Lies at the beginning of the block of batch().
  const detail::Envelope& envelope() const noexcept { return detail::envelope_of(batch_->block()); }
  Batch* batch_;   // of the envelope
  Batch* memory_;  // of the payload; the same when it lies there
};

// Keeps the memory of a message on its reactor. Once it is moved from, only destroy or assign it.
class HeldMessage : public Delivery {
 public:
  // Takes the references that the caller has.
  HeldMessage(Batch& batch, Batch& memory) noexcept : Delivery(batch, memory) {}
  HeldMessage(const HeldMessage& other) noexcept : Delivery(other) { retain(); }
  HeldMessage(HeldMessage&& other) noexcept : Delivery(other) { other.batch_ = nullptr; }
  HeldMessage& operator=(HeldMessage other) noexcept {
    std::swap(batch_, other.batch_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~HeldMessage() {
    if (batch_ == nullptr) return;
    if (memory_ != batch_) memory_->let_go();
    batch_->let_go();
  }
  void charge_to(HeldMemory& memory) noexcept {
    batch_->charge_to(memory);
    if (memory_ != batch_) memory_->charge_to(memory);
  }

 private:
  friend class Delivery;
  explicit HeldMessage(const Delivery& shown) noexcept : Delivery(shown) { retain(); }
  void retain() noexcept {
    batch_->retain();
    if (memory_ != batch_) memory_->retain();
  }
};

inline HeldMessage Delivery::hold() const noexcept { return HeldMessage(*this); }

// A share of each block of a message, for any thread.
class Posted {
 public:
  Posted() noexcept = default;
  // Adds a share of each.
  explicit Posted(Batch& batch) noexcept : block_(&batch.block()) { share(); }
  Posted(const Posted& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) share();
  }
  Posted(Posted&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Posted& operator=(Posted other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Posted() {
    if (block_ != nullptr) drop();
  }

  explicit operator bool() const noexcept { return block_ != nullptr; }
  // REQUIRES that there is a message.
  const detail::Envelope& envelope() const noexcept { return detail::envelope_of(*block_); }
  std::size_t allocated_bytes() const noexcept;  // memory of all its blocks, as Delivery's
  // Turns the share into this reactor's hold on the message.
  HeldMessage adopt() &&;

 private:
  void share() const noexcept;
  void drop() noexcept;
  Block* block_ = nullptr;
};

// Makes a message of the publication, which is checked already. Returns this thread's hold on it.
HeldMessage make_message(const Publication& publication, bool is_from_here, Origin origin = {},
                         std::uint16_t status = 0, Bytes raw_headers = {});

// Calls `visit(name, value)` for each line.
template <class Visit>
void for_each_header(Bytes headers, Visit&& visit) {
  while (!headers.empty()) {
    const std::size_t end = headers.find("\r\n");
    const Bytes line = headers.substr(0, end);
    headers = end == Bytes::npos ? Bytes() : headers.substr(end + 2);
    const std::size_t colon = line.find(':');
    if (colon == Bytes::npos) continue;
    Bytes value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    visit(line.substr(0, colon), value);
  }
}

// Carries Publication::id; JetStream finds duplicates by it.
inline constexpr Bytes message_id_header = "Nats-Msg-Id";

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
