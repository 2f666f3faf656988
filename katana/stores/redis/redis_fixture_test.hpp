// RedisServer: a real server on this machine. RedisTest: a reactor on epoll that runs tasks.
// FakeRedis: a server that sends the bytes that a test wants.
//
// Owns       the processes, threads and sockets; all end with the test.
// Thread     the test's; a FakeRedis has its own.
// Fails      by throwing: a test without its server fails.
#pragma once

#include <gmock/gmock.h>
#include <linux/filter.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "katana/base/system/program_fixture_test.hpp"
#include "katana/net/engine/epoll/epoll_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/stores/redis/client.hpp"

namespace katana::redis {

class RedisServer {
 public:
  explicit RedisServer(std::vector<std::string> more = {})
      : program_("redis"), port_(find_free_port()), more_(std::move(more)) {
    start();
  }
  // A server for tests that leave no keys behind which would disturb others.
  static RedisServer& shared() {
    static RedisServer server;
    return server;
  }

  void start() {
    std::vector<std::string> words = {"redis-server",
                                      "--port",
                                      std::to_string(port_),
                                      "--bind",
                                      "127.0.0.1",
                                      "--unixsocket",
                                      path(),
                                      "--dir",
                                      program_.folder(),
                                      "--save",
                                      "",
                                      "--appendonly",
                                      "no"};
    words.insert(words.end(), more_.begin(), more_.end());
    program_.start(words);
    program_.await_port(port_);
  }
  void kill() { program_.end(SIGKILL); }
  void pause() { program_.signal(SIGSTOP); }
  void go_on() { program_.signal(SIGCONT); }

  std::uint16_t port() const noexcept { return port_; }
  std::string path() const { return program_.folder() + "/redis.sock"; }
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
  // A file in its folder, with that text.
  std::string add_file(const std::string& name, const std::string& text) const {
    const std::string path = program_.folder() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  // Sets the flags of the server from the next start on.
  void set_flags(std::vector<std::string> more) { more_ = std::move(more); }

 private:
  Program program_;
  std::uint16_t port_;
  std::vector<std::string> more_;
};

using EpollReactor = net::ReactorOn<engine::EpollEdgeEngine>;

inline net::ReactorOptions reactor_options() {
  net::ReactorOptions options;
  options.engine.links_max = 256;
  options.output_blocks_max = 8 * 1024;
  options.output_blocks_reserve = 64;
  return options;
}

// Turns the reactor until `holds`, or 100 s have passed, as on a busy machine: then false.
template <class Condition>
bool turn_until(net::Reactor& reactor, Condition&& holds) {
  reactor.turn(Duration{});
  const Instant end = reactor.now() + seconds(100);
  while (!holds()) {
    if (reactor.now() >= end) return false;
    const Duration most = milliseconds(5);
    reactor.turn(std::min(most, std::max(reactor.timers().next() - reactor.now(), Duration{})));
  }
  return true;
}

// Runs the task, which begins in a new turn, and returns its result.
template <class T>
T run_on(net::Reactor& reactor, Task<T> task) {
  reactor.turn(Duration{});
  if (!task.start() && !turn_until(reactor, [&] { return task.done(); })) {
    throw std::runtime_error("the task is not done within 100 s");
  }
  return task.result();
}

class RedisTest : public testing::Test {
 protected:
  RedisTest() : reactor_(std::make_unique<EpollReactor>(reactor_options(), 4096)) {
    if (auto started = reactor_->start(); !started) {
      throw std::runtime_error(started.error().describe());
    }
    reactor_->turn(Duration{});
  }

  static Options options_for(const std::string& url) {
    auto options = parse_url(url);
    if (!options) throw std::runtime_error(options.error().describe());
    options->upstream.backoff_min = milliseconds(5);
    options->upstream.backoff_max = milliseconds(50);
    options->timeout = seconds(5);
    return *std::move(options);
  }
  static Client client_of(Options options) {
    auto made = Client::make(std::move(options));
    if (!made) throw std::runtime_error(made.error().describe());
    return *std::move(made);
  }
  static Client client_of(const RedisServer& server) {
    return client_of(options_for(server.url()));
  }

  template <class T>
  T run(Task<T> task) {
    return run_on(*reactor_, std::move(task));
  }
  // A plain call as a task.
  template <class T>
  static Task<Result<T>> wait(Call<T> call) {
    co_return co_await std::move(call);
  }
  net::Reactor& reactor() { return *reactor_; }

  std::unique_ptr<EpollReactor> reactor_;
};

// A server of one thread. It gives each connection in turn to `talk`, which reads and writes as
// a test wants.
class FakeRedis {
 public:
  class Peer {
   public:
    explicit Peer(int socket) noexcept : socket_(socket) {}
    // False: the other side is gone.
    bool say(Bytes text) const {
      while (!text.empty()) {
        const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(sent));
      }
      return true;
    }
    // Reads until `words` came. False: the other side is gone, or sends nothing more.
    bool hear(const std::string& words) {
      while (heard_.find(words) == std::string::npos) {
        if (!hear_more()) return false;
      }
      heard_.erase(0, heard_.find(words) + words.size());
      return true;
    }
    // Reads until the other side is gone.
    void wait_for_end() {
      while (hear_more()) {
      }
    }
    const std::string& heard() const noexcept { return heard_; }
    void hang_up() const { ::shutdown(socket_, SHUT_RDWR); }
    // Drops all bytes sent to this connection from here on, without an acknowledgement, as if the
    // machine were gone.
    void vanish() const {
      sock_filter drop_all[] = {{BPF_RET | BPF_K, 0, 0, 0}};
      const sock_fprog program{1, drop_all};
      if (::setsockopt(socket_, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) {
        ADD_FAILURE() << "no filter of the socket: " << std::strerror(errno);
      }
    }
    // The greeting of a client without password and database.
    bool greet() {
      return hear("SETNAME\r\n$6\r\nkatana\r\n") &&
             say("%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n$5\r\nproto"
                 "\r\n:3\r\n$2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6"
                 "\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n");
    }

   private:
    bool hear_more() {
      pollfd waits{socket_, POLLIN, 0};
      if (::poll(&waits, 1, 10'000) <= 0) return false;
      char bytes[4096];
      const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
      if (count <= 0) return false;
      heard_.append(bytes, static_cast<std::size_t>(count));
      return true;
    }
    int socket_;
    std::string heard_;
  };

  explicit FakeRedis(std::function<void(Peer&, int)> talk) : talk_(std::move(talk)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("no listener");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeRedis() {
    ended_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  FakeRedis(const FakeRedis&) = delete;

  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
  int connections() const noexcept { return connections_; }

 private:
  void serve() {
    while (!ended_) {
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) continue;
      socket_ = socket;
      Peer peer(socket);
      if (!ended_) talk_(peer, ++connections_);
      socket_ = -1;
      ::close(socket);
    }
  }

  std::function<void(Peer&, int)> talk_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> ended_ = false;
  std::atomic<int> connections_ = 0;
  std::atomic<int> socket_ = -1;  // of the connection that is talked on
  std::thread thread_;
};

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
