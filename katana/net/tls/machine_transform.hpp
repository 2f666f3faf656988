// MachineTransform: a TLS machine as the reactor's Transform; the same for both sides.
//
// Owns       its machine.
// Thread     its reactor's.
// Allocates  by OpenSSL only.
// Fails      as its machine; valid() is false when there was no memory.
// Invariant  note_opened() is called at most once, and so is note_failed() by receive().
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "katana/net/reactor/transform.hpp"
#include "katana/net/tls/peer_certificate.hpp"
#include "katana/wire/tls/machine.hpp"

namespace katana::tls {

class MachineTransform : public net::Transform {
 public:
  // `keeps`: the object that callbacks of the context use.
  MachineTransform(BlockPool& blocks, std::shared_ptr<const void> keeps, SSL_CTX& context,
                   Side side) noexcept
      : Transform(blocks), keeps_(std::move(keeps)), machine_(context, side) {}

  // false: there was no memory for the machine.
  bool valid() const noexcept { return machine_.valid(); }

  net::TransformStep receive(Bytes input, std::span<char> plain, Instant now) noexcept override {
    const bool had_failed = machine_.has_failed();
    const Step step = machine_.next(input, plain, output_, now);
    if (step.event == Event::opened) note_opened();
    if (step.event == Event::failed && !had_failed) note_failed(machine_.failure());
    return {event_of(step.event), step.consumed, step.produced};
  }
  void admit() noexcept final { machine_.admit(); }
  std::size_t seal(Bytes plain) noexcept final { return machine_.seal(plain, output_); }
  bool can_seal() const noexcept final { return machine_.can_seal(); }
  void seal_end() noexcept final { machine_.end(output_); }
  Bytes application_protocol() const noexcept final { return machine_.application_protocol(); }
  // Read at the first call.
  const net::PeerCertificate* peer_certificate() final {
    X509* const shown = certificate_ == nullptr ? machine_.peer_certificate() : nullptr;
    if (shown != nullptr) {
      certificate_ = std::make_unique<const net::PeerCertificate>(read_peer_certificate(*shown));
    }
    return certificate_.get();
  }

 protected:
  virtual void note_opened() noexcept = 0;                 // the handshake is complete
  virtual void note_failed(Failure failure) noexcept = 0;  // the connection cannot go on

 private:
  const std::shared_ptr<const void> keeps_;  // outlives the machine
  std::unique_ptr<const net::PeerCertificate> certificate_;

 protected:
  Machine machine_;

 private:
  static net::TransformEvent event_of(Event event) noexcept {
    switch (event) {
      case Event::need_bytes: return net::TransformEvent::need_bytes;
      case Event::hello: return net::TransformEvent::costly;
      case Event::opened: return net::TransformEvent::opened;
      case Event::bytes: return net::TransformEvent::bytes;
      case Event::ended: return net::TransformEvent::ended;
      case Event::failed: break;
    }
    return net::TransformEvent::failed;
  }
};

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
