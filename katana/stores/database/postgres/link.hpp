// Link: one session of PostgreSQL over a socket that never blocks.
//
//   Link link(memory, options);
//   link.begin();                              // its owner watches socket()
//   while (link.is_opening()) link.advance();  // at each event of the socket
//   link.machine().sync(link);                 // any requests of a turn
//   link.flush();                              // leave in one send
//   link.receive();                            // when the socket is readable
//   for (Step step = link.next(); …)           // events, whose bodies are in the receive buffer
//   link.keep_unread();                             // keeps what is not read yet
//
// It tries the servers of its options one after another. An attempt is TCP or a Unix socket, TLS,
// authentication, and a look at the role of the server.
//
// Its sockets are the kernel's, or those of the destinations of a reactor: see net/upstream.
//
// Owns       its socket, its TLS, the machine, and what was received and not read.
// Borrows    the memory of its thread. The bodies of events are valid until keep_unread().
// Thread     one at a time.
// Allocates  for a start; later for requests on their way, and for messages that come in parts.
// Fails      begin() and advance() by has_failed(), with problem(). receive() is false when the
//            connection is over. A failed send is told by the next receive().
// Invariant  what was received and not read is at most one message of the machine's limits, and
//            one call of recv(2). An idle link owns no buffer.
// Source     PostgreSQL 18, "Message Flow", "Database Connection Control Functions"
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/net/engine/socket_calls.hpp"
#include "katana/net/reactor/destinations.hpp"
#include "katana/stores/database/postgres/link_memory.hpp"
#include "katana/stores/database/postgres/link_options.hpp"
#include "katana/stores/database/postgres/target/server_role.hpp"
#include "katana/wire/postgres/machine.hpp"

namespace katana::database::postgres {

class LinkTls;
struct OpeningLink;

// The data by which another connection to the same server cancels a statement of a session.
struct CancelKey {
  sockaddr_storage address = {};  // of the server
  socklen_t address_bytes = 0;    // of `address`
  std::uint32_t process = 0;      // of the server
  std::string key = {};           // secret
};

// Why a link failed: what the server said, or what is known without it.
struct LinkProblem {
  std::string state = {};  // SQLSTATE; empty: the server has said nothing
  std::string text = {};   // on one line
};

class Link {
 public:
  // A row, or a piece of COPY, has at most 256 MiB, and an error or a notice 16 MiB: it may quote a
  // statement. A server may report much before it is ready.
  static constexpr protocol::Limits limits = {.row_bytes_max = 256 * 1024 * 1024,
                                              .report_bytes_max = 16 * 1024 * 1024,
                                              .start_messages_max = 10'000};
  // Before a login a server sends no row and no description.
  static constexpr protocol::Limits start_limits = {
      .row_bytes_max = 0, .description_bytes_max = 0, .start_messages_max = 10'000};

  // `destinations`, valid until the link is open, have its sockets, which outlive it. Null: the
  // link uses the machine's network.
  Link(LinkMemory& memory, LinkOptions options, const net::Destinations* destinations = nullptr);
  // Says goodbye, if the socket takes it at once.
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // ---- the start
  void begin() noexcept;
  // At an event of the socket. Afterwards it may have another socket.
  void advance() noexcept;
  bool is_opening() const noexcept { return start_ != nullptr && !failed_; }
  bool is_open() const noexcept { return start_ == nullptr && !failed_; }
  bool has_failed() const noexcept { return failed_; }
  // The reasons of all servers. REQUIRES has_failed(), or that receive() was false.
  const LinkProblem& problem() const noexcept { return problem_; }

  // ---- the socket
  int socket() const noexcept { return socket_; }  // -1: there is none
  // The events that the owner watches the socket for.
  bool wants_read() const noexcept { return !connecting_; }
  bool wants_write() const noexcept { return connecting_ || full_; }

  // ---- the session. REQUIRES is_open().
  protocol::Machine& machine() noexcept { return *machine_; }
  const protocol::Machine& machine() const noexcept { return *machine_; }
  // Makes room in the machine for so many further requests.
  void reserve(std::size_t requests);
  // As protocol::Output wants it. It has always room.
  bool takes(std::size_t) const noexcept { return true; }
  void write(Bytes bytes);
  // Sends what is written, as far as the socket takes it.
  void flush() noexcept;
  // Reads once from the socket. False: nothing more will come; events may be left.
  bool receive() noexcept;
  // The last receive() filled its buffer: there may be more.
  bool may_have_more() const noexcept { return may_have_more_; }
  // The next event, but for settings and notices.
  protocol::Step next() noexcept;
  // One more row of the result whose row was the last event: see Machine::next_row(). False: next()
  // says what comes.
  bool next_row(std::span<Bytes> values) noexcept {
    const std::size_t taken = machine_->next_row(input_, values);
    input_.remove_prefix(taken);
    return taken > 0;
  }
  // After the last next() of a turn, and before another link of this thread receives.
  void keep_unread();
  // Takes notices, notifications and settings at the front of what was received. A COPY that sends
  // calls it: a server that cannot send them stops reading.
  void take_asides() noexcept;

  // By TLS.
  bool is_encrypted() const noexcept { return tls_ != nullptr; }
  // The server says that it takes no writes.
  bool is_read_only() const noexcept { return facts_.is_read_only(); }
  // The name, the address and the port of the server.
  const std::string& server() const noexcept { return server_; }
  // Null: the server gave no key.
  std::unique_ptr<CancelKey> cancel_key() const;

 private:
  void try_next() noexcept;
  void close() noexcept;
  bool open(const Target& target);
  bool set_options(const Target& target);
  bool is_server_user();
  bool begin_session();
  bool run_start();
  bool begin_tls();
  bool shake_hands();
  bool answer();
  bool take_ready();
  bool is_wanted();
  target::SessionKind wanted() const noexcept;
  bool ask(Bytes question);
  bool read_answer();
  bool note(std::string why);
  bool note(const protocol::Report& report);
  bool note_refused(const protocol::Report& report);
  bool may_try_in_clear(const protocol::Report& report) const noexcept;
  void note_setting(Bytes body) noexcept;
  void give_back_requests() noexcept;
  bool read_socket(char* to, std::size_t room, std::size_t& count) noexcept;
  bool receive_sealed() noexcept;
  bool has_output() const noexcept;
  bool send_once() noexcept;
  void seal() noexcept;

  LinkMemory& memory_;
  engine::SocketCalls& sockets_;
  std::unique_ptr<OpeningLink> start_;  // null: it is open
  std::unique_ptr<LinkTls> tls_;        // null: in the clear
  std::array<protocol::Machine::Pending, 8> first_pending_ = {};
  std::vector<protocol::Machine::Pending> pending_;  // empty: first_pending_ has the requests
  std::optional<protocol::Machine> machine_;
  int socket_ = -1;
  bool connecting_ = false;  // the socket is not connected yet
  bool failed_ = false;
  bool full_ = false;         // the socket takes no more bytes
  bool send_failed_ = false;  // nothing more is sent
  bool may_have_more_ = false;
  target::SessionFacts facts_;
  std::uint32_t process_ = 0;
  std::string key_;
  std::string server_;
  std::string socket_path_;  // of a Unix socket; empty: TCP
  LinkProblem problem_;
  Bytes input_;           // not read yet: in kept_, or in the memory of the thread
  std::string kept_;      // of an earlier turn
  std::size_t size_ = 0;  // of the message that `input_` begins, as far as is known
  std::string output_;
  std::size_t sent_ = 0;  // of output_
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
