// Listener: what Redis says without being asked: messages of channels, and which keys were changed
// (client-side caching), over one connection of the process.
//
//   redis::Listener listener(redis);
//   listener.track("katana:cache:", heard);   // CLIENT TRACKING ON BCAST PREFIX katana:cache:
//   listener.subscribe("news", heard);        // SUBSCRIBE news
//   listener.start();                         // on a reactor
//
//   away ──start(), connected, all is asked for──▶ hears ──connection lost──▶ away
//                                                    └─ on_missed() of each Hearer, first of all
//
// Redis does not keep messages while it is away, and they never come. on_missed() tells each
// Hearer when it begins to hear, for the first time and again.
//
// The connection lives on the reactor of the first start(), and when that has ended on the reactor
// of the next one. It is asked by PING, so that a server that hangs is noticed within twice
// Options::stalled_after.
//
// Owns       a share of the client and of what it has heard for; the connection is the reactor's.
// Borrows    hearers by weak pointers: one that is gone is not told.
// Thread     any. Hearers are called on the reactor of the connection, one call at a time.
// Allocates  when something is asked for, and for what is heard.
// Fails      never: a connection that is lost, or refused, is made again, and Client::status() says
//            why. start() without a place for a connection (Options::connections_max) hears
//            nothing.
// Invariant  hears() is false before what is missed, and on_missed() comes behind it.
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
  // What came for subscribe().
  virtual void on_message(Bytes channel, Bytes message) noexcept { (void)channel, (void)message; }
  // Of track(): somebody, this process included, wrote or removed the key, or its time is over.
  virtual void on_changed(Bytes key) noexcept { (void)key; }
  // From here on it hears. Of what was said before something may have been missed; of track() any
  // key may have changed, as after FLUSHALL.
  virtual void on_missed() noexcept = 0;
};

class Listener {
 public:
  explicit Listener(Client client);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Keys that begin with `prefix`, which is not the beginning of another one's. For as long as the
  // connection lasts: there is no way back but the end of the hearer.
  void track(std::string prefix, std::weak_ptr<Hearer> hearer);
  void subscribe(std::string channel, std::weak_ptr<Hearer> hearer);
  // On a reactor: connects, if no other caller does.
  void start();
  // All that was asked for is heard.
  bool hears() const noexcept;

  class State;

 private:
  const std::shared_ptr<State> state_;
};

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
