// Bench: a machine and a client of OpenSSL, and the bytes between them.
//
// Owns       all of it.
// Thread     one.
// Invariant  nothing moves but in pass().
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/memory/outbox.hpp"
#include "katana/wire/tls/client_test.hpp"
#include "katana/wire/tls/machine.hpp"

namespace katana::tls {

using TestContext = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

// A context with the least that a server needs.
inline TestContext make_test_context(const TestCertificate& certificate) {
  TestContext made(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  SSL_CTX_set_options(made.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(made.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(made.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_min_proto_version(made.get(), TLS1_2_VERSION);
  SSL_CTX_use_certificate(made.get(), certificate.certificate.get());
  SSL_CTX_use_PrivateKey(made.get(), certificate.key.get());
  Machine::prepare(*made);
  return made;
}

// One for all tests: making a key takes longer than most of them.
inline SSL_CTX& test_context() {
  static const TestCertificate certificate;
  static const TestContext context = make_test_context(certificate);
  return *context;
}

inline std::string take_all(Outbox& outbox) {
  std::string text;
  outbox.for_each_pending([&text](Bytes bytes, const Retained*) { text += bytes; });
  outbox.clear();
  return text;
}

struct Bench {
  explicit Bench(const ClientOptions& options = {}, SSL_CTX& context = test_context())
      : client(options), machine(context) {}

  // Gives the machine `bytes`, and notes its events.
  void give(Bytes bytes) {
    std::array<char, 4096> plain;
    for (;;) {
      const Step step = machine.next(bytes, plain, output, Instant{1});
      bytes.remove_prefix(step.consumed);
      EXPECT_EQ(step.event == Event::bytes, step.produced > 0);
      if (step.event == Event::need_bytes) return;
      if (events.empty() || events.back() != step.event) events.push_back(step.event);
      if (step.event == Event::hello) {
        if (!admits) {
          withheld += bytes;
          return;
        }
        machine.admit();
      }
      received.append(plain.data(), step.produced);
      if (step.event == Event::ended || step.event == Event::failed) return;
    }
  }

  // Both ways, in pieces of at most so many bytes, until neither side has anything to say.
  void pass(std::size_t piece = SIZE_MAX) {
    for (;;) {
      const std::string up = client.take_output();
      for (std::size_t at = 0; at < up.size(); at += std::min(piece, up.size() - at)) {
        give(Bytes(up).substr(at, piece));
      }
      const std::string down = take_all(output);
      for (std::size_t at = 0; at < down.size(); at += std::min(piece, down.size() - at)) {
        client.receive(Bytes(down).substr(at, piece));
      }
      if (up.empty() && down.empty()) return;
    }
  }

  // All of it, in as many records as it takes.
  void send(Bytes plain) {
    while (!plain.empty()) plain.remove_prefix(machine.seal(plain, output));
  }

  BlockPool pool{4096, 256};
  Outbox output{pool};
  TestClient client;
  Machine machine;
  std::vector<Event> events;
  std::string received;
  std::string withheld;
  bool admits = true;
};

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
