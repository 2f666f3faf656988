// Plan and Client: the planned actions of a client, and their execution.
//
// Owns       a Client its end of one connection and the received bytes.
// Borrows    the world, which must outlive it.
// Thread     one; moves by events of the network.
// Fails      error() names what the server did that no server may do.
// Invariant  a client's decisions depend on its plan, its seed and its input: the same plan asks
//            for the same replies in every world.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/values/random.hpp"
#include "tests/simulation/reply_reader.hpp"
#include "tests/simulation/world.hpp"

namespace katana::simulation {

// A request as it goes over the wire, and the expected reply.
struct Planned {
  std::string name;  // for reports
  std::string head;
  std::string content;
  bool waits_for_continue = false;  // sends its content only when told to
  bool to_head = false;
  Duration think;  // before it is sent

  unsigned status = 200;
  std::optional<std::string> reply;  // the content, when the plan knows it
  bool framing_varies = false;       // by length or in chunks, as the content happens to arrive
  bool last = false;                 // the server ends the connection after this reply
  bool lingers = false;              // and takes what comes until the client ends, too
  bool breaks = false;               // no whole reply, but a reset
};

// The action of a client that has all its replies, or does not wait for them.
enum class Ending : std::uint8_t {
  close,       // closes
  idle,        // leaves it to the server
  half_close,  // ends its side right behind its last request
  leave,       // closes at its own moment
  reset,       // resets at its own moment
};

enum class Reading : std::uint8_t { eager, slow, stops };

struct Plan {
  Site site = Site::hello;
  std::vector<Planned> requests;
  std::size_t depth = 1;  // requests on their way at once
  Ending ending = Ending::close;
  Reading reading = Reading::eager;
  std::size_t stops_after = 0;  // bytes
  Duration start;
  Duration ends_after;               // leave, reset: from the start on
  std::size_t slice_octets_max = 0;  // size of the pieces that it sends; 0: sends it whole
  Duration slice_pause_max;
  std::size_t window = 0;  // 0: the faults draw

  // Replies that a patient client gets.
  std::size_t replies() const;
  // The server ends by a reset.
  bool breaks() const;
  // The received bytes do not depend on faults that lose nothing.
  bool exact() const;
};

class Client {
 public:
  Client(World& world, const Plan& plan, std::uint64_t seed);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const Plan& plan() const noexcept { return plan_; }
  const ReplyReader& reader() const noexcept { return reader_; }
  const SimPeer& peer() const noexcept { return peer_; }
  // It will neither send nor receive any more.
  bool over() const noexcept { return closed_ || peer_.over(); }
  std::string error() const;
  std::uint64_t octets_received() const noexcept { return octets_received_; }

 private:
  struct Slice {
    Duration pause;
    std::string bytes;
  };

  void start();
  void pump();
  void send_request();
  void write(const std::string& bytes);
  void write_next();
  void on_received();
  void on_over();
  void on_replies();
  void read_slowly();
  void close();

  World& world_;
  Plan plan_;
  Random random_;
  SimPeer peer_;
  ReplyReader reader_;
  std::deque<Slice> slices_;
  bool writing_ = false;
  std::size_t next_ = 0;  // in plan_.requests
  bool thinking_ = false;
  bool thought_ = false;
  std::size_t continues_before_ = 0;
  bool waiting_for_continue_ = false;
  bool stopped_ = false;  // the server has said that it ends
  bool closed_ = false;
  std::uint64_t octets_received_ = 0;
  std::string error_;
};

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
