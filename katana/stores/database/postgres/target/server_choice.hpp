// ServerChoice: one attempt to connect, as the sequence of servers and addresses that are tried.
// It opens no socket and reads no clock: step() says what to do, and the caller says what came.
//
//   resolve   look up the addresses of a name       resolved(), failed(unresolved)
//   connect   make a session, within the timeout    established(), failed()
//   ask       send `question` in that session       answered(), failed(no_answer)
//   use       the session is of the wanted kind
//   end       every server was tried; error() has the reasons of all
//
//   failure         what happened                                   next
//   unresolved      the name has no address                         the next server
//   unreachable     the network refused the connection              the next address
//   timed_out       no session within the timeout                   the next address
//   lost            the server closed the connection                the next address
//   no_tls          the server has no TLS                           the end
//   tls             the handshake failed, or the certificate did    the end
//   starting        the server's error 57P03: it starts or stops    the next server
//   forbidden       its error 28000: by its pg_hba.conf             the end
//   refused         another error: password, database, connections  the end
//   broken          bytes that are not PostgreSQL's                 the end
//   no_answer       the question failed                             the next server
//
// With sslmode=prefer, no_tls, tls and forbidden are tried again without TLS; with `allow`,
// forbidden is tried again with it. A session of another kind than target_session_attrs leads to
// the next server, and not to other addresses of the same. `prefer-standby` tries all servers
// a second time, and then takes any. With load_balance_hosts=random, servers and addresses have
// a random order.
//
// A wrong password ends the attempt: another server would ask for the same one, and each try
// counts as a failed login. There are two differences to libpq. It ends at `lost`; here the next
// address is tried, because a proxy accepts a connection and closes it while its server is down.
// With `prefer` it repeats every refused login without TLS; here a password that was wrong with TLS
// is not sent without it.
//
// Owns       the order, the addresses and the reasons.
// Borrows    the target and the random numbers, which outlive it.
// Thread     one at a time.
// Allocates  addresses and reasons.
// Fails      Action::end.
// Invariant  a server is tried without TLS only if sslmode is disable, allow or prefer, or if it is
//            a Unix socket. The number of steps is bounded.
// Source     PostgreSQL 18, "Specifying Multiple Hosts", "target_session_attrs"; libpq 15, measured
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/system/hints.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/random.hpp"
#include "katana/stores/database/postgres/target/server_role.hpp"
#include "katana/stores/database/postgres/target/target.hpp"
#include "katana/wire/postgres/startup.hpp"

namespace katana::database::postgres::target {

// The addresses of one name that are tried; further ones are not.
inline constexpr std::size_t addresses_max = 16;
// The reasons that error() has; further ones are counted.
inline constexpr std::size_t reasons_max = 16;

// The reason why a step did not succeed.
enum class Failure : std::uint8_t {
  // The table above says what each of them is, and what follows.
  unresolved,
  unreachable,
  timed_out,
  lost,
  no_tls,
  tls,
  starting,
  forbidden,
  refused,
  broken,
  no_answer,
  count_,
};
// The failure of an error that the server reports during the start.
Failure failure_of(Bytes sqlstate) noexcept;

// The task of the caller.
enum class Action : std::uint8_t { resolve, connect, ask, use, end };

// One step. Views are valid until the next call.
struct ServerStep {
  // The task.
  Action action = Action::end;
  std::size_t server = 0;  // index in Target::servers
  // A numeric address for connect; empty: the socket_path of the server.
  std::string_view address = {};
  // The beginning of TLS, for connect.
  katana::postgres::TlsStart tls = katana::postgres::TlsStart::off;
  // The limit for TCP, TLS and authentication together; zero: none.
  Duration timeout = {};
  // A statement with one row of one column, for ask.
  std::string_view question = {};
};

class ServerChoice {
 public:
  // REQUIRES at least one server.
  ServerChoice(const Target& target, Random& random);

  // The present task; it stays until one of the other calls. Every step but ask and use closes
  // a session that was made before.
  ServerStep step() const noexcept KATANA_VIEW;
  // The addresses of the name, in the order of the resolver. REQUIRES Action::resolve.
  void resolved(std::vector<std::string> addresses);
  // REQUIRES Action::connect.
  void established(const SessionFacts& facts);
  // The value of the question, as text. REQUIRES Action::ask.
  void answered(Bytes value);
  // `reason` is for people. REQUIRES one of those three actions, and a failure that belongs to it.
  void failed(Failure failure, std::string_view reason);

  // The reasons of all servers. REQUIRES Action::end.
  katana::Error error() const;

 private:
  const Server& server() const noexcept { return target_.servers[order_[place_]]; }
  SessionKind want() const noexcept;
  void begin_server();
  void begin_address();
  void next_address();
  void next_server();
  void judge();
  bool try_other_tls(Failure failure);
  void reject(std::string_view reason);
  void note(std::string_view reason);
  template <class T>
  void shuffle(std::vector<T>& values);

  const Target& target_;
  Random& random_;
  std::vector<std::size_t> order_;
  std::vector<std::string> addresses_;  // of the present server; none: its Unix socket
  std::vector<std::string> reasons_;
  std::size_t reasons_left_out_ = 0;
  std::size_t place_ = 0;    // in order_
  std::size_t address_ = 0;  // in addresses_
  SessionFacts facts_;
  Action action_ = Action::end;
  Failure last_ = Failure::unreachable;
  katana::postgres::TlsStart tls_ = katana::postgres::TlsStart::off;
  bool has_tried_both_ = false;  // with TLS and without it
  bool is_second_pass_ = false;  // prefer-standby takes any now
};

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
