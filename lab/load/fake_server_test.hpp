// FakeServer: a server that does to each connection what a test says, right or wrong.
//
// Owns       its listener and a thread for each connection; ends them when destroyed.
// Borrows    the context, where it speaks TLS: OpenSSL's own way on the socket, none of this house.
// Thread     `serve` runs on the connection's thread.
// Fails      aborts: without a socket there is no test.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "katana/base/system/check.hpp"

namespace katana::load {

// One accepted connection, with blocking calls that end when the server does.
class Peer {
 public:
  explicit Peer(int fd, SSL_CTX* tls = nullptr) : fd_(fd), ssl_(nullptr, &SSL_free) {
    if (tls == nullptr) return;
    ssl_.reset(SSL_new(tls));
    SSL_set_fd(ssl_.get(), fd);
    SSL_set_accept_state(ssl_.get());
  }
  int fd() const { return fd_; }
  SSL* tls() const { return ssl_.get(); }

  // Reads the next bytes; 0 or less: the client is gone.
  long read_some(char* to, std::size_t count) {
    if (ssl_ != nullptr) return SSL_read(ssl_.get(), to, static_cast<int>(count));
    return ::recv(fd_, to, count, 0);
  }

  // The next request's head and what came with it; empty when the client is gone.
  std::string read_request() {
    std::size_t end = 0;
    while ((end = kept_.find("\r\n\r\n")) == std::string::npos) {
      if (!read_more()) return {};
    }
    std::string head = kept_.substr(0, end + 4);
    kept_.erase(0, end + 4);
    return head;
  }
  // Reads `bytes` bytes of a request body.
  bool read_content(std::size_t bytes) {
    while (kept_.size() < bytes) {
      if (!read_more()) return false;
    }
    kept_.erase(0, bytes);
    return true;
  }
  bool write(std::string_view text) {
    while (!text.empty()) {
      const long sent = write_some(text);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void wait_for_end() {
    while (read_more()) kept_.clear();
  }
  // close_notify; true: the client has said so, too.
  bool say_end() { return SSL_shutdown(ssl_.get()) == 1 || SSL_shutdown(ssl_.get()) == 1; }
  // The close that follows breaks the connection off.
  void reset() {
    const linger now{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }

 private:
  bool read_more() {
    char piece[64 * 1024];
    const long got = read_some(piece, sizeof piece);
    if (got <= 0) return false;
    kept_.append(piece, static_cast<std::size_t>(got));
    return true;
  }
  long write_some(std::string_view text) {
    if (ssl_ == nullptr) return ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
    return SSL_write(ssl_.get(), text.data(),
                     static_cast<int>(std::min<std::size_t>(text.size(), 1 << 20)));
  }

  int fd_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  std::string kept_;
};

class FakeServer {
 public:
  explicit FakeServer(std::function<void(Peer&)> serve, SSL_CTX* tls = nullptr)
      : serve_(std::move(serve)), tls_(tls) {
    if (tls != nullptr) std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to a closed connection
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    KATANA_CHECK(::bind(listener_, generic, size) == 0 && ::listen(listener_, 512) == 0);
    KATANA_CHECK(::getsockname(listener_, generic, &size) == 0);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::jthread([this] { accept_all(); });
  }
  ~FakeServer() {
    ::shutdown(listener_, SHUT_RDWR);  // accept() returns
    acceptor_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    threads_.clear();
    ::close(listener_);
  }

  std::uint16_t port() const { return port_; }
  std::uint32_t accepted() const { return accepted_.load(); }

 private:
  void accept_all() {
    while (true) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      ++accepted_;
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      {
        const std::lock_guard lock(mutex_);
        open_.push_back(fd);
      }
      threads_.emplace_back([this, fd] {
        {
          Peer peer(fd, tls_);
          serve_(peer);
        }
        const std::lock_guard lock(mutex_);
        std::erase(open_, fd);
        ::close(fd);
      });
    }
  }

  std::function<void(Peer&)> serve_;
  SSL_CTX* const tls_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<std::uint32_t> accepted_{0};
  std::mutex mutex_;
  std::vector<int> open_;
  std::vector<std::jthread> threads_;  // the acceptor's until it has ended
  std::jthread acceptor_;
};

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
