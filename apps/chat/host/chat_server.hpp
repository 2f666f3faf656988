// ChatServer: a chat on any engine and any number of reactors, with a WebSocket port and /metrics.
// All ports except that of the metrics have TLS, if there are certificates.
//
// Owns       one reactor and one hub per thread, their shared objects, and the HTTP side of the
//            first reactor, which answers the scrapes.
// Thread     one; blocks SIGINT and SIGTERM from construction on.
// Fails      start() names the address or resource; run() ends by a signal.
// Invariant  on SIGTERM or SIGINT each client gets the messages sent before, and the farewell,
//            before drain_timeout. A second signal ends the process at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/chat/history.hpp"
#include "apps/chat/host/chat_cluster.hpp"
#include "apps/chat/protocol.hpp"
#include "katana/base/system/result.hpp"
#include "katana/http/server/engines.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/tls/options.hpp"
#include "katana/observe/log/logger.hpp"

namespace katana::chat {

// Checked by make(), which names the option that is wrong.
struct ChatServerOptions {
  std::string address = "127.0.0.1";                           // numeric
  std::uint16_t port = 9000;                                   // 0: the kernel chooses
  unsigned reactors = 1;                                       // threads, each with a hub
  server::EngineKind engine = server::EngineKind::epoll_edge;  // for all reactors
  bool pin = false;                        // each reactor to a CPU, as HttpServerOptions has it
  Duration drain_timeout = seconds(10);    // from the signal on; then who is left is cut off
  std::uint32_t connections_max = 10'000;  // on all reactors together
  std::uint32_t rooms_max = 1024;          // the lobby is one
  // The port of /metrics, /health and /ready on the same address; 0: the kernel chooses. None: no
  // listener.
  std::optional<std::uint16_t> metrics_port = {};
  // Names that it answers to there, beside localhost and the address; see
  // http/server/operations.hpp.
  std::vector<std::string> hosts = {};
  // The port of the page and of /chat, the same chat over WebSocket; 0: the kernel chooses. None:
  // no listener.
  std::optional<std::uint16_t> websocket_port = {};
  // TLS on the chat's port and on that of the page; none: neither has it. SIGHUP reads certificates
  // and keys again. The server sets TlsOptions::protocols.
  std::optional<tls::TlsOptions> tls = {};
  // The history that a client is told when it joins a room.
  chat::HistoryOptions history = {};
  // The other servers of the same chat, if there are any.
  ChatClusterOptions cluster = {};
  net::ReactorOptions reactor = {};
  chat::ChatOptions chat = {};
  log::Logger log = {};
};

// The counts of a run, when run() returns.
struct ChatReport {
  std::uint64_t connections = 0;  // connections that were given a number
  std::uint64_t messages = 0;     // accepted from members
  std::uint64_t delivered = 0;    // messages by recipients: taken whole by the kernel
  std::uint64_t dropped = 0;      // messages by recipients: lost, for any reason of Loss
  std::uint64_t cut_off = 0;      // connections that drain_timeout or a second signal ended
};

// The most memory that the server may use.
struct ChatBudget {
  std::uint64_t relays = 0;        // batches on their way between reactors, and from the bus
  std::uint64_t history = 0;       // for all rooms
  net::MemoryBudget reactor = {};  // for each reactor, including the queues of slow readers
  std::uint64_t total = 0;         // bytes, as are the others: relays, history and all reactors
};

class ChatServer {
 public:
  // Makes the server. An Error names the option, the file of TLS, or the mistake in the bus's URL.
  static Result<std::unique_ptr<ChatServer>> make(const ChatServerOptions& options);
  ~ChatServer();
  ChatServer(const ChatServer&) = delete;
  ChatServer& operator=(const ChatServer&) = delete;

  // Listens. Connections are accepted by the kernel from here on and served from run() on.
  Result<void> start();
  // Serves until a signal says to stop.
  ChatReport run();

  // The one that is listened on, chosen by the kernel or not; 0 before start().
  std::uint16_t port() const noexcept { return port_; }
  // Likewise; 0 also if there is no such listener.
  std::uint16_t metrics_port() const noexcept { return metrics_port_; }
  // Likewise; 0 also if there is no such listener.
  std::uint16_t websocket_port() const noexcept { return websocket_port_; }
  // The budget for the options; it does not change.
  ChatBudget budget() const;
  // The URL of the chat's port, as tcp:// or tls://, because the chat is not HTTP; after start().
  std::string url() const;

 private:
  struct Parts;

  ChatServer(const ChatServerOptions& options, std::unique_ptr<ChatBus> bus);
  Result<void> set_up();
  Result<void> set_up_websocket();
  Result<void> load_certificates();
  void reload_certificates();
  Result<void> listen(unsigned reactor);
  // The metrics' listener of the first reactor, behind those of the chat.
  engine::Listener metrics_listener() const noexcept { return options_.websocket_port ? 2 : 1; }
  Result<void> register_metrics();
  void refresh_metrics() const;

  ChatServerOptions options_;
  std::unique_ptr<Parts> parts_;
  std::uint16_t port_ = 0;
  std::uint16_t metrics_port_ = 0;
  std::uint16_t websocket_port_ = 0;
};

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
