// Trial: a service whose handlers do what handlers can do, for the simulator to disturb.
//
// Owns       counts of what its handlers do. Must outlive the service that refers to it.
// Thread     one.
// Invariant  every reply is a function of its request, never of timing; frames() counts the
//            coroutines of handlers that exist.
//
// Routes, beside those of hello_world_server:
//
//   GET  /literal            40,000 bytes that the reply refers to
//   GET  /file               the same bytes, from a file
//   GET  /text/{n}           n bytes that the reply owns
//   GET  /ready/{n}          a coroutine that does not suspend
//   GET  /sleep/{ms}         a coroutine that suspends
//   GET  /owned/{ms}         the same; answers with its request's target and X-Token
//   GET  /gate               waits until open_gate()
//   GET  /never              never answers
//   GET  /never-begun        begins a reply and never ends it
//   GET  /endless            a stream of 2^40 bytes
//   GET  /ticks/{n}/{ms}     n lines, with a pause before each
//   GET  /throw  /throw-later/{ms}  /throw-begun/{ms}
//   GET  /close  /empty  /unmodified  /missing
//   POST /collect            size and digest of the content; a plain handler
//   POST /collect-small      the same, up to 1,000 bytes
//   POST /collect/{ms}       the same; a coroutine that suspends first
//   POST /read/{ms}          reads the content piece by piece, with a pause after each
//   POST /read-never         reads one piece and no more
//   POST /mirror/{ms}        streams the content back with every bit inverted, while it comes
//   POST /begun              begins its reply, then reads the content, then ends with the digest
//   POST /early  /early/{ms}  /early-stream    answer without reading the content
//   GET  /guarded/plain  /guarded/sleep/{ms}   401 without X-Token; the middleware adds X-Seen
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/memory/retained.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/http/handlers/router.hpp"

namespace katana::simulation {

class Trial {
 public:
  // `more_routes`: what a test serves beside these.
  explicit Trial(std::function<void(Router&)> more_routes = {});
  ~Trial();
  // Refers to this object.
  Result<Service> make_service();

  // Coroutines of handlers that exist.
  std::int64_t frames() const noexcept { return frames_; }
  std::uint64_t frames_made() const noexcept { return frames_made_; }
  // Bytes that handlers have read of streamed content.
  std::uint64_t octets_read() const noexcept { return octets_read_; }
  // Bytes that /endless has made.
  std::uint64_t octets_made() const noexcept { return octets_made_; }
  // Handlers that wait at the gate go on.
  void open_gate();

  // co_await of it waits for the next open_gate().
  class Gate {
   public:
    explicit Gate(Trial& trial) noexcept : trial_(trial) {}
    ~Gate() { std::erase(trial_.at_gate_, waiting_); }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
      waiting_ = waiting;
      trial_.at_gate_.push_back(waiting);
    }
    void await_resume() const noexcept {}

   private:
    Trial& trial_;
    std::coroutine_handle<> waiting_;
  };

 private:
  friend class Frame;
  void add_plain(Router& router);
  void add_sleeping(Router& router);
  void add_throwing(Router& router);
  void add_content(Router& router);
  void add_source(Router& router);
  void add_streaming(Router& router);
  void add_early(Router& router);
  void add_guarded(Router& router);

  std::FILE* file_;  // with the bytes of /literal
  Retained file_reference_;
  const std::function<void(Router&)> more_routes_;
  std::int64_t frames_ = 0;
  std::uint64_t frames_made_ = 0;
  std::uint64_t octets_read_ = 0;
  std::uint64_t octets_made_ = 0;
  std::vector<std::coroutine_handle<>> at_gate_;
};

inline constexpr std::size_t trial_literal_octets = 40'000;
// The expected replies of /ready/{n}, /text/{n}, /ticks/… and the digests of /collect.
std::string trial_text(std::size_t octets);
std::string trial_ticks(std::size_t lines);
std::string trial_digest(Bytes content);
std::string trial_mirrored(Bytes content);

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
