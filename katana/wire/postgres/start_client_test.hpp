// StartClient: a client of a start that answers what it is asked for, and the messages that a test
// gives it.
//
// Thread     one.
// Allocates  yes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "katana/wire/postgres/server_test.hpp"
#include "katana/wire/postgres/startup.hpp"

namespace katana::postgres::test {

inline const std::string certificate(32, 'c');

inline std::string authentication(std::uint32_t code, Bytes rest = "") {
  return message('R', number(code, 4) + std::string(rest));
}
inline std::string sasl(const std::vector<std::string>& mechanisms) {
  std::string list;
  for (const std::string& each : mechanisms) list += zero_ended(each);
  return authentication(10, list + '\0');
}
inline const std::string scram_offer = sasl({"SCRAM-SHA-256"});
inline const std::string plus_offer = sasl({"SCRAM-SHA-256-PLUS", "SCRAM-SHA-256"});
inline std::string version(std::uint32_t newest, std::uint32_t options = 0, Bytes names = "") {
  return message('v', number(newest, 4) + number(options, 4) + std::string(names));
}
inline std::string key(std::size_t size) {
  return message('K', number(77, 4) + std::string(size, 'k'));
}
inline const std::string session_begins =
    test::setting("server_version", "18.1") + key(4) + test::ready();

inline StartupOptions plain() {
  StartupOptions options;
  options.user = "katana";
  options.tls = TlsStart::off;
  return options;
}
inline StartupOptions over_tls() {
  StartupOptions options;
  options.user = "katana";
  return options;
}

// A client that answers what it is asked for, and a log of what it saw.
class StartClient {
 public:
  explicit StartClient(const StartupOptions& options, const Limits& limits = {},
                       Bytes password = "pw")
      : startup(options, nonce, limits), password_(password) {
    EXPECT_EQ(startup.begin(sink), Submitted::ok);
  }

  // Gives the bytes in pieces of so many.
  const std::string& receive(Bytes bytes, std::size_t piece = SIZE_MAX) {
    while (!bytes.empty()) {
      pending_ += bytes.substr(0, piece);
      bytes.remove_prefix(std::min(piece, bytes.size()));
      read();
    }
    return events;
  }
  std::string written() { return std::exchange(sink.text, ""); }
  // The body of the last message of a client, which is not the first one.
  std::string last_body() {
    const std::string all = written();
    return all.size() < header_bytes ? "" : all.substr(header_bytes);
  }

  Startup startup;
  Sink sink;
  std::string events;
  TlsFacts facts{.alpn = alpn_name, .server_end_point = certificate};
  bool answers = true;

 private:
  void read() {
    for (;;) {
      const std::vector<char> apart(pending_.begin(), pending_.end());
      const StartStep step = startup.next({apart.data(), apart.size()}, sink);
      note(step);
      EXPECT_LE(step.consumed, pending_.size());
      if (step.event == StartEvent::need_bytes && startup.state() != StartState::ready) {
        EXPECT_GT(step.size, pending_.size());
      }
      pending_.erase(0, step.consumed);
      if (step.event == StartEvent::encrypt && answers) {
        const Submitted submitted = startup.encrypted(facts, sink);
        if (submitted == Submitted::ok) continue;
        note({.event = StartEvent::refused});
        return;
      }
      const bool is_asked = step.event == StartEvent::password || step.event == StartEvent::proof;
      if (is_asked && answers) {
        EXPECT_EQ(startup.answer(password_, sink), Submitted::ok);
      }
      const bool goes_on = step.consumed > 0 && step.event != StartEvent::encrypt;
      if (!goes_on || step.event == StartEvent::ready || step.event == StartEvent::error) return;
    }
  }
  void note(const StartStep& step) {
    switch (step.event) {
      case StartEvent::need_bytes: return;
      case StartEvent::no_room: events += "no room\n"; return;
      case StartEvent::encrypt: events += "encrypt\n"; return;
      case StartEvent::version: events += "version\n"; return;
      case StartEvent::password: events += "password\n"; return;
      case StartEvent::scram: events += "scram\n"; return;
      case StartEvent::proof: events += "proof\n"; return;
      case StartEvent::verified: events += "verified\n"; return;
      case StartEvent::authenticated: events += "authenticated\n"; return;
      case StartEvent::setting:
        events += std::string(setting_of(step.body).name) + "=" +
                  std::string(setting_of(step.body).value) + "\n";
        return;
      case StartEvent::notice:
        events += "notice " + std::string(report_of(step.body).message) + "\n";
        return;
      case StartEvent::key:
        events += "key " + std::to_string(backend_key_of(step.body).process) + " of " +
                  std::to_string(backend_key_of(step.body).key.size()) + "\n";
        return;
      case StartEvent::ready: events += "ready\n"; return;
      case StartEvent::error:
        events += "error " + std::string(report_of(step.body).sqlstate) + "\n";
        return;
      case StartEvent::refused:
        events += "refused: " + std::string(text_of(startup.refusal())) + "\n";
        return;
    }
  }

  std::string password_;
  std::string pending_;
};

// The events of a start whose server sends only this.
inline std::string events_of(const StartupOptions& options, Bytes sent, const Limits& limits = {}) {
  StartClient client(options, limits);
  return client.receive(sent);
}
// The mechanism and the first message of SCRAM, or nothing if none was sent.
inline std::string first_scram(const StartupOptions& options, const std::string& offer,
                               const TlsFacts& facts = {alpn_name, certificate}) {
  StartClient client(options);
  client.facts = facts;
  if (options.tls == TlsStart::request) client.receive("S");
  client.written();
  client.receive(offer);
  const std::string body = client.last_body();
  const std::size_t end = body.find('\0');
  return end == std::string::npos ? client.events
                                  : body.substr(0, end) + " " + body.substr(end + 5);
}

}  // namespace katana::postgres::test

// SPDX-License-Identifier: Apache-2.0
