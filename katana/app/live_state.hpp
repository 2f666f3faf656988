// LiveState: the state of a program at one moment, for the pages of operations. Every reactor is
// read on its own thread, in slices; a reactor that is stuck is shown as such.
//
// Owns       nothing.
// Borrows    the objects of its sources, which outlive the service.
// Thread     a reactor's.
// Allocates  the documents.
// Fails      never: what does not answer in time is missing, and the document says so.
// Invariant  no reactor is read for longer than a slice at a time. No document has a body, a query
//            or the value of a statement's parameter.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "katana/app/application_jobs.hpp"
#include "katana/app/application_queues.hpp"
#include "katana/app/caches.hpp"
#include "katana/app/history.hpp"
#include "katana/app/live_documents.hpp"
#include "katana/app/pools.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/base/thread/pool.hpp"
#include "katana/http/server/client_address.hpp"
#include "katana/http/server/live_connections.hpp"
#include "katana/http/server/live_coroutines.hpp"
#include "katana/http/server/live_requests.hpp"
#include "katana/http/server/observability.hpp"
#include "katana/http/server/reactor_probe.hpp"
#include "katana/http/server/reactor_walk.hpp"
#include "katana/stores/bus/bus.hpp"
#include "katana/stores/database/database.hpp"

namespace katana::app {

// The parts of the program that are shown. A pointer is null where the program has no such part.
struct LiveSources {
  std::string program = {};                         // its name
  std::string version = {};                         // of the program
  bool requests_listed = true;                      // see StateDocument
  server::Observability* observability = nullptr;   // reactors and their connections
  const Pools* pools = nullptr;                     // of threads
  database::Database* database = nullptr;           // of the program
  const ApplicationJobs* jobs = nullptr;            // scheduled ones
  ApplicationQueues* queues = nullptr;              // of jobs
  const Caches* caches = nullptr;                   // of this process
  bus::Bus* bus = nullptr;                          // of messages
  const History* history = nullptr;                 // of the last quarter of an hour
  thread::Pool* pool = nullptr;                     // for work that would hold up a reactor
  Instant started = {};                             // by the clock of the reactors
  std::vector<std::string> insecure = {};           // as in StateDocument
  std::function<std::string()> configuration = {};  // with the origin of each value
};

// One reactor and its walk. Null: the reactor is gone, or did not answer in time; a walk that is to
// go on is not over then.
template <class Walk>
struct WalkedReactor {
  std::size_t number = 0;           // of the reactor, from 0
  std::shared_ptr<Walk> walk = {};  // its part of the list
};

// Collects what the pages of live state show.
class LiveState {
 public:
  // The time for which the state and an action wait for the reactors.
  static constexpr Duration patience = milliseconds(500);
  // The same for a list, which is of no use without some of its parts.
  static constexpr Duration list_patience = seconds(5);

  explicit LiveState(LiveSources sources) : sources_(std::move(sources)) {}

  // Requests in flight, by reactor.
  Task<std::vector<WalkedReactor<server::LiveRequests>>> requests(
      server::LiveRequestFilter filter, Duration time = list_patience) const;
  // Suspended coroutines, by reactor.
  Task<std::vector<WalkedReactor<server::LiveCoroutines>>> coroutines(
      server::LiveCoroutineFilter filter) const;
  // Open connections, by reactor.
  Task<std::vector<WalkedReactor<server::LiveConnections>>> connections(
      server::LiveConnectionFilter filter) const;
  // The oldest `limit` of each reactor, and the number of all.
  struct Statements {
    std::vector<StatementEntry> rows = {};   // oldest first
    std::size_t count = 0;                   // of all that run
    std::vector<std::size_t> silent = {};    // numbers of reactors that did not answer
    std::vector<std::size_t> unlisted = {};  // of those whose statements are not known
  };
  // Statements that run, of all reactors.
  Task<Statements> statements(std::size_t limit, Duration time = list_patience) const;
  // The answer of /operations/state. `limit`: of the lists in it.
  Task<StateDocument> document(std::size_t limit) const;
  // Closes the connections that have this address. A reactor that does not answer in time closes
  // its connections when it can.
  struct Closed {
    std::size_t count = 0;                 // closed at present
    std::vector<std::size_t> silent = {};  // numbers of reactors that are not done
  };
  Task<Closed> close_client(server::ClientAddress client) const;

  // The parts that it was made with.
  const LiveSources& sources() const noexcept { return sources_; }

 private:
  template <class Walk, class Make>
  Task<std::vector<WalkedReactor<Walk>>> walk(Make make, Duration time,
                                              server::WhenLate late) const;
  void add_reactors(StateDocument& document) const;
  void add_parts(StateDocument& document, Instant now) const;
  Task<void> add_queues(StateDocument& document) const;

  const LiveSources sources_;
};

// The rows of the documents.
RequestEntry entry_of(const server::LiveRequest& request, std::size_t reactor);
ConnectionEntry entry_of(const server::LiveConnection& connection, std::size_t reactor);
CoroutineEntry entry_of(const server::LiveCoroutine& coroutine, std::size_t reactor);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
