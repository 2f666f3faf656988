// StoreSender: sends the messages of a StoreQueue, and takes the answers of the streams.
//
// Owns       its timer.
// Borrows    the queue, the streams, and the StoreLink.
// Thread     the home reactor's.
// Allocates  for each message, a subject for its answer.
// Fails      never: a message that is not stored is sent again. After stalled_after the stream is
//            told as stalled.
#pragma once

#include <memory>
#include <string>

#include "katana/base/coroutine/task.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/stores/bus/nats/jet_streams.hpp"
#include "katana/stores/bus/nats/link.hpp"
#include "katana/stores/bus/nats/store_queue.hpp"

namespace katana::bus {

// The sender, past the subscribers of this process, which have it already.
class StoreLink {
 public:
  virtual bool is_up() const noexcept = 0;  // the link has a server that takes messages
  // False: it could not be written; send_waiting() is called when it can be.
  virtual bool send_stored(const HeldMessage& message, Bytes reply_to) = 0;

 protected:
  ~StoreLink() = default;
};

class StoreSender final : private net::TimerEntry {
 public:
  static constexpr Duration stalled_after = seconds(2);  // since the first refusal in a row

  StoreSender(net::Reactor& reactor, StoreQueue& queue, JetStreams& streams, StoreLink& link);
  ~StoreSender();
  StoreSender(const StoreSender&) = delete;
  StoreSender& operator=(const StoreSender&) = delete;

  // Answers come to "INBOX.NUMBER".
  const std::string& inbox() const noexcept { return inbox_; }
  void send_waiting();
  void on_answer(const NatsMessage& message);
  void on_down();

 private:
  void on_time();
  void note_refused(const Error& why);
  void arm();

  net::Reactor& reactor_;
  StoreQueue& queue_;
  JetStreams& streams_;
  StoreLink& link_;
  const std::string inbox_;
  std::string subject_;  // of the last that was refused
  Instant stalled_since_ = never;
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
