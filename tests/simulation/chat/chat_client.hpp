// ChatClient: a client that sends lines by its plan, reads or does not, and judges all that it
// gets.
//
// Owns       its end of one connection.
// Borrows    the network, which must outlive it.
// Thread     one; moves by events of the network.
// Fails      faults() names what the server did that no server may do.
// Invariant  a message has its sender and its number, and its text follows from these. The client
//            then sees whether a message was changed, cut or mixed up.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "katana/base/values/random.hpp"
#include "tests/simulation/chat/chat_world.hpp"

namespace katana::simulation {

enum class Leaving : std::uint8_t { stays, quits, closes, half_closes, resets };
enum class Habit : std::uint8_t { reads, pauses, stops };

struct ChatPlan {
  std::uint32_t number = 0;
  std::uint32_t messages = 0;
  std::size_t text_bytes_max = 100;
  std::size_t slice_bytes_max = 0;  // 0: lines whole
  Duration pause_max;               // between slices
  std::uint32_t garbage_per_1024 = 0;
  std::uint32_t commands_per_1024 = 0;
  Habit habit = Habit::reads;
  Leaving leaving = Leaving::stays;
  Duration start;
  Duration talks_after;        // its first line, from the start on
  bool waits_to_talk = false;  // until start_talking()
};

// The text of a message, without the name in front of it.
std::string message_text(std::uint32_t sender, std::uint32_t sequence, std::size_t bytes_max);

class ChatClient {
 public:
  ChatClient(SimNetwork& network, std::uint16_t port, const ChatPlan& plan, std::uint64_t seed);
  ChatClient(ChatWorld& world, const ChatPlan& plan, std::uint64_t seed)
      : ChatClient(world.network(), world.port(), plan, seed) {}
  ChatClient(const ChatClient&) = delete;
  ChatClient& operator=(const ChatClient&) = delete;

  const ChatPlan& plan() const noexcept { return plan_; }
  SimPeer& peer() noexcept { return peer_; }
  bool done_talking() const noexcept { return lines_.empty() && !talking_; }
  bool over() const noexcept { return left_ || peer_.over(); }
  void start_talking() { talk(); }
  void start_reading() { peer_.start_reading(); }

  // Reads what has come so far. `all`: nothing more will.
  void judge(bool all);
  std::uint64_t received() const noexcept { return received_; }
  std::uint64_t told_dropped() const noexcept { return told_dropped_; }
  std::uint64_t told_lost() const noexcept { return told_lost_; }
  std::uint64_t recalled() const noexcept { return recalled_; }
  // The number in the server's name for it: by its last answer to /who or to a name, or by a
  // notice.
  std::uint32_t renamed() const noexcept { return renamed_; }
  const std::string& last_line() const noexcept { return last_line_; }
  const std::vector<std::string>& faults() const noexcept { return faults_; }

 private:
  void plan_lines();
  void talk();
  void leave();
  void read_line(std::string_view line);
  void complain(std::string what);

  SimNetwork& network_;
  std::uint16_t port_;
  ChatPlan plan_;
  Random random_;
  SimPeer peer_;
  std::deque<std::string> lines_;
  bool talking_ = true;
  bool left_ = false;
  std::size_t judged_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t told_dropped_ = 0;
  std::uint64_t told_lost_ = 0;
  std::uint64_t recalled_ = 0;
  std::uint32_t history_left_ = 0;  // lines of the room's history that are to come
  std::uint32_t renamed_ = 0;
  std::string last_line_;
  std::map<std::uint32_t, std::uint32_t> next_;  // by sender: the least that may come
  std::vector<std::string> faults_;
};

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
