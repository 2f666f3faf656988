// Properties that many systems have, for World::always() and World::at_end().
//
//   world.at_end("bookings are kept", testing::acknowledged_are_kept({
//       .write = [](const Operation& each) { return each.is_to("POST", "/bookings"); },
//       .id = [](const Operation& each) { return each.content; },
//       .present = [](testing::World& world) { return ids_of(world); }}));
//   world.at_end("no request is stuck", testing::nothing_is_stuck());
//
// Owns       the functions that it was made of.
// Thread     the world's.
// Allocates  as its functions do.
// Fails      a property returns what is wrong, with the operations that show it.
// Invariant  an operation with an unknown outcome may have had its effect, or not.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "katana/testing/world/linearizability.hpp"
#include "katana/testing/world/world.hpp"

namespace katana::testing {

// How acknowledged_are_kept() knows writes and their effects.
struct KeptWrites {
  // Whether the operation is a write of this kind. Those that succeeded() count.
  std::function<bool(const Operation&)> write;
  // The identity of its effect, as `present` has it.
  std::function<std::string(const Operation&)> id;
  // The effects that are there.
  std::function<std::set<std::string>(World&)> present;
  // Effects that no operation asked for are wrong, too.
  bool only_these = true;
};
// Every acknowledged write is there, and nothing that was never asked for.
World::Property acknowledged_are_kept(KeptWrites writes);

// No reply to one client contains the text that marks another one's data: client -> text. Replies
// to World::ask() may: a test asks for any user.
World::Property replies_stay_with_their_client(std::map<std::string, std::string> marks);

// Operations with the same id are repetitions of one: it had at most one effect. `effects` counts
// those that are there, by id.
World::Property at_most_once(std::function<std::map<std::string, std::size_t>(World&)> effects);

// One run of a job, as its effects show it.
struct JobRun {
  std::string id;           // of the job
  std::uint64_t fence = 0;  // token of the worker; a later holder has a larger one
};
// Jobs are done at least once: each acknowledged `submit` has a run. They are fenced: no run of a
// job follows one with a larger token. `runs` gives the effects in their order.
World::Property jobs_are_done_and_fenced(std::function<bool(const Operation&)> submit,
                                         std::function<std::string(const Operation&)> id,
                                         std::function<std::vector<JobRun>(World&)> runs);

// At rest no program holds an end of a connection whose other end is gone. Clients have left by
// then. For at_end().
World::Property descriptors_return_to_rest();

// At rest no node has more than `bytes_max` in blocks of output, of received bytes, and in bodies,
// messages and handlers. For at_end(), and nodes without connections that last.
World::Property memory_returns_to_rest(std::size_t bytes_max = 0);

// Each operation got its reply before its client gave up. An operation during which a planned fault
// was in effect is excused.
World::Property nothing_is_stuck();

// The calls that `read_calls` makes of the history are linearizable, for each key.
World::Property linearizable_registers(
    std::function<std::vector<RegisterCall>(const History&)> read_calls,
    std::map<std::string, std::string> initial = {});

// A call of a register for an operation: times, whether its outcome is open, and text.
RegisterCall register_call(const Operation& operation, RegisterCall::Kind kind, std::string key,
                           std::optional<std::string> value);

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
