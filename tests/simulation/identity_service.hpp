// IdentityService: routes whose requests carry one identity in path, query, method, fields and
// body. Whenever they look, they check that all of these are of the same request.
//
// Owns       the faults that it found.
// Thread     one.
// Fails      faults() says what did not hold.
// Invariant  a reply is made of nothing but its request's identity.
//
//   GET  /plain/{id}       at once
//   GET  /later/{id}       after a pause
//   GET  /stream/{id}      a Reply::stream that begins after a pause
//   GET  /write/{id}       a ReplyWriter, with pauses
//   GET  /throw/{id}       500, after a pause
//   POST /gather/{id}      when its content is here
//   POST /digest/{id}      the same, after a pause
//   POST /reflect/{id}     piece by piece, as the content comes
//   GET  /guarded/{id}     behind a middleware that looks before and after
//   GET  /socket/{id}      WebSocket: echoes messages that carry the identity
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/http/handlers/router.hpp"

namespace katana::simulation {

// The parts of a request of one identity.
struct Identity {
  std::string text;    // 16 digits, drawn
  std::string method;  // as it is sent
  std::string route;   // "/plain"
  std::int64_t pause_ms = 0;
  std::size_t repeats = 1;  // repetitions of the identity in the reply

  std::string pattern() const { return route + "/{id}"; }
  std::string target() const { return route + "/" + text + "?id=" + text; }
  // "name: value" of each, without the protocol's own.
  std::vector<std::pair<std::string, std::string>> fields() const;
  std::string trace() const { return text + text; }
  // For a request that has content.
  std::string content(std::size_t size) const;
  // The text of a reply that is not a failure.
  std::string reply() const;
};

class IdentityService {
 public:
  void add_routes(Router& router, bool with_waiting_middleware);
  const std::vector<std::string>& faults() const { return faults_; }

  // `content`: of the request, or a part of it that begins at `offset`.
  void check(const RequestView& request, std::string_view where, Bytes content,
             std::size_t offset = 0);
  void fault(std::string what) {
    if (faults_.size() < 20) faults_.push_back(std::move(what));
  }

 private:
  void add_middleware(Router& router);
  void add_plain(Router& router);
  void add_streams(Router& router);
  void add_content(Router& router);

  std::vector<std::string> faults_;
};

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
