// Channel: a client's end of a connection, as it stands or under TLS.
//
// Owns       its end, and a TLS client for Site::trial_tls.
// Borrows    the world, which must outlive it.
// Thread     one.
// Fails      by failing the test when TLS breaks, or ends without saying so where nothing is lost.
// Invariant  on_bytes gets the bytes of the server's session, in order; sending may begin at once.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/wire/tls/client_test.hpp"
#include "tests/simulation/world.hpp"

namespace katana::simulation {

class Channel {
 public:
  explicit Channel(World& world) : world_(world), peer_(world.network()) {
    peer_.on_received = [this] { take(peer_.take_received()); };
    peer_.on_over = [this] {
      if (on_over) on_over();
    };
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  std::function<void(Bytes)> on_bytes;
  std::function<void()> on_over;

  SimPeer& peer() noexcept { return peer_; }
  // `protocols` of ALPN.
  void connect(Site site, const std::vector<std::string>& protocols = {}) {
    if (site == Site::trial_tls) {
      tls::ClientOptions options;
      options.protocols = protocols;
      client_ = std::make_unique<tls::TestClient>(options);
    }
    peer_.connect(world_.port(site));
    flush();
  }
  void send(Bytes bytes) {
    if (client_ == nullptr) {
      peer_.send(bytes);
    } else if (!client_->opened()) {
      early_ += bytes;
    } else {
      client_->send(bytes);
      flush();
    }
  }
  // Sends no more, and says so.
  void finish() {
    if (client_ != nullptr && client_->opened()) {
      client_->end();
      flush();
    }
    peer_.finish();
  }
  void close() {
    if (client_ != nullptr && client_->opened()) {
      client_->end();
      flush();
    }
    peer_.close();
  }
  // The server has said that it ends, and not only the network.
  bool ended_in_order() const {
    return peer_.saw_end() && (client_ == nullptr || client_->ended());
  }

 private:
  void flush() {
    if (client_ == nullptr) return;
    if (const std::string bytes = client_->take_output(); !bytes.empty()) peer_.send(bytes);
  }
  void take(std::string bytes) {
    if (client_ == nullptr) {
      if (on_bytes) on_bytes(bytes);
      return;
    }
    client_->receive(bytes);
    EXPECT_FALSE(client_->failed()) << "TLS broke";
    if (client_->opened() && !early_.empty()) client_->send(std::exchange(early_, {}));
    flush();
    const std::string plain = client_->received().substr(taken_);
    taken_ += plain.size();
    if (!plain.empty() && on_bytes) on_bytes(plain);
  }

  World& world_;
  SimPeer peer_;
  std::unique_ptr<tls::TestClient> client_;  // null: as it stands
  std::string early_;
  std::size_t taken_ = 0;  // bytes taken from the client's input
};

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
