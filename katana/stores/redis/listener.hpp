// Listener: hears the pushes of Redis over one connection of the process: messages of channels, and
// names of changed keys (client-side caching).
//
//   redis::Listener listener(redis);
//   listener.track("katana:cache:", heard);   // CLIENT TRACKING ON BCAST PREFIX katana:cache:
//   listener.subscribe("news", heard);        // SUBSCRIBE news
//   listener.start();                         // on a reactor
//
//   away ──start(), connected, all is asked for──▶ hears ──connection lost──▶ away
//                                                    └─ on_missed() of each Hearer, first of all
//
// Redis keeps no messages for a listener that is away: they never come. The listener calls
// on_missed() of each Hearer when it begins to hear, for the first time or again.
//
// The connection lives on the reactor of the first start(). When that has ended, it lives on the
// reactor of the next one. The listener sends PING: it notices a server that hangs within twice
// Options::stalled_after.
//
// Owns       a share of the client and of its wishes; the connection is the reactor's.
// Borrows    hearers by weak pointers: one that is gone is not told.
// Thread     any. Hearers are called on the reactor of the connection, one call at a time.
// Allocates  for each track() and subscribe(), and for each push.
// Fails      never: a connection that is lost, or refused, is made again, and Client::status() says
//            why. start() without a place for a connection (Options::connections_max) hears
//            nothing.
// Invariant  hears() is false before a message is missed, and on_missed() comes behind it.
#pragma once

#include <memory>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/stores/redis/client.hpp"

namespace katana::redis {

// Each call is on the listener's reactor. The arguments are borrowed for the call.
class Hearer {
 public:
  virtual ~Hearer() = default;
  // A message of a subscribed channel.
  virtual void on_message(Bytes channel, Bytes message) noexcept { (void)channel, (void)message; }
  // A tracked key was written or removed by any client, this process included, or has expired.
  virtual void on_changed(Bytes key) noexcept { (void)key; }
  // The Hearer hears from here on. It may have missed earlier messages, and any tracked key may
  // have changed, as after FLUSHALL.
  virtual void on_missed() noexcept = 0;
};

class Listener {
 public:
  explicit Listener(Client client);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Hears of changes of keys that begin with `prefix`. No tracked prefix may be the beginning of
  // another one. Tracking lasts until the hearer ends: it cannot be undone before.
  void track(std::string prefix, std::weak_ptr<Hearer> hearer);
  void subscribe(std::string channel, std::weak_ptr<Hearer> hearer);
  // Connects on this reactor, unless another reactor has the connection.
  void start();
  // True when all tracked keys and subscribed channels are heard.
  bool hears() const noexcept;

  class State;

 private:
  const std::shared_ptr<State> state_;
};

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
