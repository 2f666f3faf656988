// floor_epoll: the cost of the kernel alone, as an edge-triggered epoll server of one thread.
//
//   floor_epoll PORT         one reply for every CR LF CR LF it reads; connections stay open
//   floor_epoll PORT close   one reply for whatever the first read returns, then close
//   floor_epoll PORT refuse  the first mode for clients of 127.0.0.0/16; closes others when they come
//
// It parses nothing and issues the fewest system calls we know of. A keep-alive request takes two
// (read, write) and a shared epoll_wait. A new connection with `close` takes four (accept4, read,
// write, close), none of them epoll_ctl. A server's cost divided by this one's shows the cost of
// its user code. It trusts its client: a head split across two reads gets no reply. It does not
// complete a reply that the kernel takes in part, and pipelining is limited to replies_max requests
// per read.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define REPLY_HEAD                                                              \
  "HTTP/1.1 200 OK\r\nServer: floor\r\nDate: Sat, 21 Nov 2026 00:00:00 GMT\r\n" \
  "Content-Type: text/plain\r\nContent-Length: 13\r\n"
#define REPLY_BODY "\r\nHello, World!"

static const char reply[] = REPLY_HEAD REPLY_BODY;
static const char closing_reply[] = REPLY_HEAD "Connection: close\r\n" REPLY_BODY;

enum {
  reply_bytes = sizeof reply - 1,
  closing_reply_bytes = sizeof closing_reply - 1,
  replies_max = 64,
  events_max = 256,
  accepts_per_event_max = 64,
  backlog = 4096,
};

enum mode { keep, close_after_each, refuse };

static const int on = 1;
static char replies[replies_max * reply_bytes];
static char input[65536];

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static int listen_on(int port, bool defer) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (listener < 0) fail("socket");
  if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) fail("SO_REUSEADDR");
  if (setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0) fail("SO_REUSEPORT");
  // Accept a connection only once its request is there, so that the optimistic read finds it.
  if (defer && setsockopt(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &on, sizeof on) != 0) {
    fail("TCP_DEFER_ACCEPT");
  }
  const struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons((in_port_t)port),
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(listener, (const struct sockaddr*)&address, sizeof address) != 0) fail("bind");
  if (listen(listener, backlog) != 0) fail("listen");
  return listener;
}

static void watch(int poll, int fd, uint32_t events) {
  struct epoll_event event = {.events = events, .data.fd = fd};
  if (epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll_ctl");
}

static size_t count_requests(const char* at, const char* end) {
  size_t count = 0;
  while ((at = memmem(at, (size_t)(end - at), "\r\n\r\n", 4)) != NULL) {
    at += 4;
    ++count;
  }
  return count < replies_max ? count : replies_max;
}

// A client that has gone away is its own loss, and asking why would cost a system call.
static void write_unchecked(int fd, const char* bytes, size_t size) {
  if (write(fd, bytes, size) < 0) return;
}

static void serve_once(int connection) {
  if (read(connection, input, sizeof input) > 0)
    write_unchecked(connection, closing_reply, closing_reply_bytes);
  close(connection);
}

static void serve(int connection) {
  const ssize_t size = read(connection, input, sizeof input);
  if (size > 0) {
    write_unchecked(connection, replies, count_requests(input, input + size) * reply_bytes);
  } else if (size == 0 || errno != EAGAIN) {
    close(connection);
  }
}

static bool is_good(const struct sockaddr_in* peer) {
  return ntohl(peer->sin_addr.s_addr) >> 16 == 0x7F00;
}

static void accept_some(int poll, int listener, enum mode mode) {
  for (int count = 0; count < accepts_per_event_max; ++count) {
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    const bool asked = mode == refuse;
    const int connection = accept4(listener, asked ? (struct sockaddr*)&peer : NULL,
                                   asked ? &size : NULL, SOCK_NONBLOCK);
    if (connection < 0) return;
    if (mode == close_after_each) {
      serve_once(connection);
      continue;
    }
    if (asked && !is_good(&peer)) {
      close(connection);
      continue;
    }
    if (setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail("TCP_NODELAY");
    watch(poll, connection, EPOLLIN | EPOLLET | EPOLLRDHUP);
  }
}

int main(int argc, char** argv) {
  enum mode mode = keep;
  if (argc == 3 && strcmp(argv[2], "close") == 0) mode = close_after_each;
  if (argc == 3 && strcmp(argv[2], "refuse") == 0) mode = refuse;
  if (argc < 2 || argc > 3 || (argc == 3 && mode == keep)) {
    fputs("usage: floor_epoll PORT [close|refuse]\n", stderr);
    return 2;
  }
  for (int index = 0; index < replies_max; ++index)
    memcpy(replies + index * reply_bytes, reply, reply_bytes);
  const int listener = listen_on(atoi(argv[1]), mode == close_after_each);
  const int poll = epoll_create1(0);
  if (poll < 0) fail("epoll_create1");
  watch(poll, listener, EPOLLIN);
  for (;;) {
    struct epoll_event events[events_max];
    const int count = epoll_wait(poll, events, events_max, -1);
    for (int index = 0; index < count; ++index) {
      if (events[index].data.fd == listener) {
        accept_some(poll, listener, mode);
      } else {
        serve(events[index].data.fd);
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
