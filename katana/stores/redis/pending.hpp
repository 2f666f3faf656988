// Pending: a command with a waiting caller, from its call to its reply.
//
//   queued ──written──▶ sent ──reply──▶ the call's
//      └────── outage ────┴──▶ failed ──▶ the call's, in the next turn
//
// Its place in the order of replies stays until the reply has come, even when its caller is gone.
// Therefore no other caller gets that reply.
//
// Owns       the command until it is written, its reply, its error.
// Borrows    the coroutine that waits.
// Thread     its reactor's.
// Allocates  itself, from the recycler.
// Invariant  it is in one list of its Pipeline, or belongs to the call alone (home is null).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/memory/linked_list.hpp"
#include "katana/base/memory/recycler.hpp"
#include "katana/net/reactor/timer_wheel.hpp"
#include "katana/stores/redis/command.hpp"
#include "katana/stores/redis/error.hpp"
#include "katana/stores/redis/reply.hpp"

namespace katana::redis {

class Pipeline;

// The effect of a command. It decides the error of a lost reply: see CallOptions::effect.
enum class Effect : std::uint8_t { reads, writes };

// Options of one call.
struct CallOptions {
  Duration timeout = {};           // zero: Options::timeout
  Effect effect = Effect::writes;  // reads: a lost reply is Kind::lost_reply, and nothing was done
};

struct Pending final : ListHook<Pending>, net::TimerEntry {
  // The list of its Pipeline that it is in, while it has a home.
  enum class State : std::uint8_t {
    queued,  // not written; may still be withdrawn
    sent,    // written: a reply is owed, also when the caller is gone
    failed,  // `error` is there; its caller is resumed in the next turn
  };

  Pending(Command given, Effect what);

  static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    recycler::release(memory, bytes);
  }

  Command command;  // released once it is written
  // Sent in the place of its digest when the server does not know it; null: no script.
  const std::string* script = nullptr;
  Pipeline* home = nullptr;  // whose list it is in; null: it is the call's alone
  Waiting waiting;
  bool awaited = false;   // somebody waits, and `waiting` is set
  bool is_probe = false;  // of an idle connection, and of no call
  Effect effect;
  State state = State::queued;
  Instant sent_at = {};
  Reply reply;
  std::optional<Error> error;
  std::string name;  // of the command, for errors, once that is written
};

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
