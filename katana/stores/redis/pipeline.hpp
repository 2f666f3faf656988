// Pipeline: one reactor's connection to Redis, and the commands on it, in order.
//
//   submit() → queued ──as there is room──▶ sent ──replies, in order──▶ the waiting call
//
// The commands of one turn go out at its end in one send. Replies of RESP have no number:
// the first of them is for the first command that was sent, whether its caller still waits or not.
// When the connection is lost, sent commands fail, because their outcome is unknown. Queued
// commands wait for the next connection, at most for Options::wait_while_down.
//
// Owns       its connection; the queued and the sent commands.
// Borrows    its reactor, whose attachment it is.
// Thread     its reactor's.
// Allocates  for replies.
// Fails      each Pending, once.
// Invariant  at most commands_max commands are in both lists together, and at most queued_bytes_max
//            bytes are not yet taken by the kernel. A reply is given to its command, or dropped.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "katana/base/coroutine/mailbox.hpp"
#include "katana/base/memory/linked_list.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/upstream/connection.hpp"
#include "katana/stores/redis/greeting.hpp"
#include "katana/stores/redis/pending.hpp"
#include "katana/stores/redis/reply_reader.hpp"
#include "katana/stores/redis/shared.hpp"

namespace katana::redis {

class Pipeline final : public net::Attachment, private upstream::Owner {
 public:
  Pipeline(net::Reactor& reactor, std::shared_ptr<Shared> shared,
           std::shared_ptr<Counters> counters);
  ~Pipeline() override;
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // The pipeline of the reactor. An Error: there are connections_max already.
  static Result<Pipeline*> of(net::Reactor& reactor, const std::shared_ptr<Shared>& shared);

  // Takes the command of `pending` until `deadline`. False: it has failed, with pending.error.
  bool submit(Pending& pending, Instant deadline);
  // The caller of the Pending is gone, or has its reply. Destroys the Pending, now or when its
  // reply has come.
  static void leave(Pending& pending) noexcept;

  // True after the server's greeting: commands submitted now go out at the end of the turn.
  bool is_up() const noexcept { return connection_.is_up(); }
  // The number of commands that are here, whatever their state.
  std::size_t load() const noexcept { return queued_.size() + sent_.size() + failed_.size(); }

 private:
  struct Resuming : Message {
    explicit Resuming(Pipeline& given) noexcept;
    Pipeline& pipeline;
    bool is_due = false;
  };
  struct Timer : net::TimerEntry {
    Timer(Pipeline& given, void (Pipeline::*what)() noexcept) noexcept;
    Pipeline& pipeline;
    void (Pipeline::* const due)() noexcept;
  };

  void on_open() noexcept override;
  std::size_t on_bytes(Bytes input) noexcept override;
  void on_closed(const katana::Error& why) noexcept override;
  void on_unreachable(const katana::Error& why) noexcept override;
  void on_writable() noexcept override { flush(); }

  std::optional<Error> refusal_of(const Pending& pending) const;
  void enqueue(Pending& pending) noexcept;
  void unqueue(Pending& pending) noexcept;
  void note_waiting() noexcept;
  void flush() noexcept;
  // False: the connection is given up.
  bool take_reply(Reply reply);
  bool take_greeting(const Reply& reply);
  void answer(Pending& pending, Reply reply);
  void take_error(Pending& pending, const Reply& reply);
  void send_script(Pending& pending);
  void fail_queued() noexcept;
  void fail_sent(const katana::Error& why) noexcept;
  void fail_later(Pending& pending, Error error) noexcept;
  void resume_failed() noexcept;
  void resume(Pending& pending) noexcept;
  void expire(Pending& pending) noexcept;
  void note_down(const katana::Error& why) noexcept;
  bool is_given_up() const noexcept;
  void look_for_stall() noexcept;
  void probe() noexcept;
  void forget(Pending& pending) noexcept;

  friend struct Pending;

  net::Reactor& reactor_;
  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<Counters> counters_;
  upstream::Connection connection_;
  ReplyReader reader_;
  Greeting greeting_;
  LinkedList<Pending> queued_, sent_, failed_;
  std::size_t queued_bytes_ = 0;
  Instant down_since_ = never;  // never: it is up, or was never begun
  bool leaving_ = false;        // the server takes no more writes: gone once all is answered
  Timer stall_timer_{*this, &Pipeline::look_for_stall};
  Timer down_timer_{*this, &Pipeline::fail_queued};
  Resuming resuming_{*this};
};

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
