// Client: a test's blocking connection to a server on this machine. terminate() ends that server
// with SIGTERM, as an operator would.
//
// Owns       its socket.
// Thread     one.
// Fails      by failing the test; a reply that does not arrive within 20 s is an empty or cut text.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

namespace katana::server {

inline bool connect_here(int fd, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

class Client {
 public:
  // `from`: its own address, such as "127.0.0.2"; null: the kernel's choice.
  explicit Client(std::uint16_t port, const char* from = nullptr)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (from != nullptr) {
      sockaddr_in own{};
      own.sin_family = AF_INET;
      ::inet_pton(AF_INET, from, &own.sin_addr);
      EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    }
    connected = connect_here(fd_, port);
    set_patience(std::chrono::seconds(20));
  }
  // To a Unix socket. REQUIRES a path that fits.
  explicit Client(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    connected = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    set_patience(std::chrono::seconds(20));
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(std::string_view text) {
    EXPECT_EQ(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // Field lines each end with CRLF.
  void send_get(std::string_view target, std::string_view fields = "") {
    send("GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(fields) +
         "\r\n");
  }
  // Returns the received text up to and including `last`; if that is empty, to the end of the
  // connection.
  std::string receive_until(std::string_view last) {
    return receive(
        [last](const std::string& text) { return !last.empty() && text.ends_with(last); });
  }
  // Returns one reply: head and body; of a chunked body the chunks as they arrived.
  std::string receive_reply() { return receive(&whole); }
  // The same, but waits no longer; empty: nothing came.
  std::string receive_within(std::chrono::milliseconds time) {
    set_patience(time);
    std::string reply = receive_reply();
    set_patience(std::chrono::seconds(20));
    return reply;
  }
  std::string ask(std::string_view target, std::string_view fields = "") {
    send_get(target, fields);
    return receive_reply();
  }

  bool connected = false;

 private:
  void set_patience(std::chrono::milliseconds time) {
    const timeval patience{time.count() / 1000, time.count() % 1000 * 1000};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  template <class Complete>
  std::string receive(Complete complete) {
    std::string text;
    char piece[4096];
    while (!complete(text)) {
      const ssize_t count = ::recv(fd_, piece, sizeof piece, 0);
      if (count <= 0) break;
      text.append(piece, static_cast<std::size_t>(count));
    }
    return text;
  }
  static bool whole(const std::string& text) {
    const std::size_t head = text.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    if (text.starts_with("HTTP/1.1 204 ")) return true;  // RFC 9110 §15.3.5: it has no content
    if (text.find("chunked") < head) return text.ends_with("\r\n0\r\n\r\n");
    const std::size_t length = text.find("Content-Length: ");
    return length < head && text.size() - head - 4 >= std::stoul(text.substr(length + 16));
  }
  int fd_;
};

// Returns when the server has seen the signal: two pending signals would count as one.
inline void terminate() {
  ::kill(::getpid(), SIGTERM);
  sigset_t pending;
  do {
    std::this_thread::yield();
    sigpending(&pending);
  } while (sigismember(&pending, SIGTERM) == 1);
}

// Runs `clients` with the port of a started server, and then ends the server with this many
// signals. Returns the server's report.
template <class Server, class Clients>
auto serve_clients(Server& server, Clients clients, int signals = 1) {
  std::thread thread([&] {
    clients(server.port());
    for (int count = 0; count < signals; ++count) terminate();
  });
  const auto report = server.run();
  thread.join();
  return report;
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
