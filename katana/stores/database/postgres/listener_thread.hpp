// ListenerThread: the session that listens, and the thread that waits for it.
//
//   connect ──► LISTEN each channel ──► wait, deliver ──loss──► back-off ──► connect
//                                        │    ▲
//                                        └────┴── LISTEN again after probe_interval of silence
//
// A server that hangs, or that vanished, closes nothing: only an answer shows that it is there.
// The question is LISTEN of a channel, which a server that became a standby refuses.
//
// Owns       its thread, the link and its buffers.
// Thread     create(), start() and join(): one; wake() any. The observer is called by its thread.
// Allocates  as Link does, and notifications.
// Fails      by the hub's note_loss(), and tries again. The observer is told once when messages
//            may be missed from now on, and once when the server listens again.
// Invariant  it waits for the socket and for wake() together: it ends at once when the hub is
//            closed. Only the look-up of a host's name blocks.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "katana/stores/database/backend.hpp"
#include "katana/stores/database/postgres/link.hpp"
#include "katana/stores/database/postgres/notification_hub.hpp"
#include "katana/stores/database/postgres/options.hpp"

namespace katana::database::postgres {

class ListenerThread {
 public:
  // Does not begin the thread: start() does. Fails when no descriptor is left.
  static katana::Result<std::unique_ptr<ListenerThread>> create(Options options,
                                                                OutageObserver observer);
  ~ListenerThread();

  // Once. The hub outlives join().
  void start(NotificationHub& hub);
  // REQUIRES that the hub is closed.
  void join() { thread_.join(); }
  void wake() noexcept;

 private:
  enum class Woken : std::uint8_t { socket, asked, late };

  ListenerThread(Options options, OutageObserver observer, int wake) noexcept
      : options_(std::move(options)), observer_(std::move(observer)), wake_(wake) {}
  void run() noexcept;
  // These return the reason of the end; empty: the hub was closed, or no caller listens any more.
  std::string hold_session();
  std::string connect();
  std::string listen();
  std::string execute(const std::string& text, Duration within);
  std::string probe();
  void tell_loss(const std::string& why);
  void note_session();
  // True: a command went to the server. An Error has the reason why none could.
  std::expected<bool, std::string> sync_channels();
  void deliver();
  // Reads what has come. Not empty: the session is over, for this reason.
  std::string receive();
  // Takes the events that were received. `is_ready`: a command is answered, with an error in `why`.
  std::string take_events(bool& is_ready, std::string& why);
  bool ended() const { return hub_->closed(); }
  Woken wait(short events, Instant until) noexcept;

  const Options options_;
  const OutageObserver observer_;
  const int wake_;  // an eventfd
  NotificationHub* hub_ = nullptr;
  LinkMemory memory_;
  std::unique_ptr<Link> link_;
  std::vector<std::pair<std::string, Notification>> heard_;  // not given to the hub yet
  std::size_t attempts_ = 0;                                 // to connect
  bool was_open_ = false;                                    // the session got as far as to listen
  Instant heard_at_;                                         // when the server last sent something
  Instant lost_at_ = never;  // the outage that the observer was told of
  std::thread thread_;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
