// churn: a client of new connections. Each of CONNECTIONS slots connects, sends one request, reads
// the whole reply, closes, and starts again.
//
//   churn PORT CONNECTIONS SECONDS [WAIT_FOR_CLOSE]
//
// Prints "RATE REQUESTS ERRORS CLOSED_BY_SERVER": replies per second, whole replies, connections
// that ended without one, and how many of the whole ones were ended by the server's FIN. With
// WAIT_FOR_CLOSE=1 a slot waits for that FIN before it closes; without, it closes as soon as the
// reply is whole.
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
#include <time.h>
#include <unistd.h>

static const char request[] =
    "GET /plaintext HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";

enum {
  request_bytes = sizeof request - 1,
  content_bytes = 13,  // of "Hello, World!"
  slots_max = 1024,
  events_max = 256,
  turn_ms_max = 100,
  connect_attempts_max = 100,
  connect_retry_us = 1000,
};

struct slot {
  int fd;
  bool sent;
  size_t size;
  char reply[1024];
};

static struct slot slots[slots_max];
static struct sockaddr_in address;
static int poll_fd;
static bool wait_for_close;
static long finished, errors, closed_by_server;

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static double now_s(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static bool start(unsigned index) {
  const int on = 1;
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  // Close with RST: no TIME_WAIT, so that ports do not run out.
  const struct linger reset = {.l_onoff = 1, .l_linger = 0};
  if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset) != 0) fail("SO_LINGER");
  if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail("TCP_NODELAY");
  if (connect(fd, (const struct sockaddr*)&address, sizeof address) != 0 && errno != EINPROGRESS) {
    close(fd);
    return false;
  }
  slots[index].fd = fd;
  slots[index].sent = false;
  slots[index].size = 0;
  struct epoll_event event = {.events = EPOLLOUT | EPOLLIN | EPOLLET, .data.u32 = index};
  if (epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll_ctl");
  return true;
}

static void start_again(unsigned index) {
  close(slots[index].fd);
  slots[index].fd = -1;
  for (int attempt = 0; attempt < connect_attempts_max; ++attempt) {
    if (start(index)) return;
    ++errors;
    usleep(connect_retry_us);
  }
}

static bool is_whole(const struct slot* slot) {
  const char* end_of_head = slot->size > 0 ? memmem(slot->reply, slot->size, "\r\n\r\n", 4) : NULL;
  return end_of_head != NULL &&
         slot->size >= (size_t)(end_of_head - slot->reply) + 4 + content_bytes;
}

// False: the request could not be sent, and the slot has started again.
static bool on_writable(unsigned index) {
  if (send(slots[index].fd, request, request_bytes, MSG_NOSIGNAL) == request_bytes) {
    slots[index].sent = true;
    return true;
  }
  ++errors;
  start_again(index);
  return false;
}

static void on_readable(unsigned index) {
  struct slot* const slot = &slots[index];
  for (;;) {
    const ssize_t received =
        recv(slot->fd, slot->reply + slot->size, sizeof slot->reply - slot->size, 0);
    if (received < 0 && errno == EAGAIN) return;
    if (received > 0) slot->size += (size_t)received;
    const bool whole = is_whole(slot);
    if (received > 0 && !(whole && !wait_for_close)) continue;
    if (whole) {
      ++finished;
      if (received <= 0) ++closed_by_server;
    } else {
      ++errors;
    }
    start_again(index);
    return;
  }
}

static void on_event(unsigned index, uint32_t events) {
  if (slots[index].fd < 0) {
    start(index);
    return;
  }
  if (!slots[index].sent && (events & EPOLLOUT) && !on_writable(index)) return;
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) on_readable(index);
}

int main(int argc, char** argv) {
  const int connections = argc >= 4 ? atoi(argv[2]) : 0;
  if (connections < 1 || connections > slots_max) {
    fprintf(stderr, "usage: churn PORT CONNECTIONS(1..%d) SECONDS [WAIT_FOR_CLOSE]\n", slots_max);
    return 2;
  }
  const double seconds = atof(argv[3]);
  wait_for_close = argc > 4 && atoi(argv[4]) != 0;
  address = (struct sockaddr_in){.sin_family = AF_INET,
                                 .sin_port = htons((in_port_t)atoi(argv[1])),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  poll_fd = epoll_create1(0);
  if (poll_fd < 0) fail("epoll_create1");
  for (unsigned index = 0; index < (unsigned)connections; ++index) {
    slots[index].fd = -1;
    start(index);
  }
  const double started = now_s();
  while (now_s() - started < seconds) {
    struct epoll_event events[events_max];
    const int count = epoll_wait(poll_fd, events, events_max, turn_ms_max);
    for (int at = 0; at < count; ++at) on_event(events[at].data.u32, events[at].events);
  }
  printf("%.1f %ld %ld %ld\n", (double)finished / (now_s() - started), finished, errors,
         closed_by_server);
  return 0;
}
