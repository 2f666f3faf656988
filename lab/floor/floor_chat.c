// floor_chat: the cost of the kernel alone to hand every line to all other clients, as an
// edge-triggered epoll server of one thread.
//
//   floor_chat PORT
//
// Input of one turn is framed once, one line behind the other, in one place. Then every connection
// gets all of it except its own lines with one gathered send. We know no cheaper way for these
// bytes: one recv for each connection that spoke, one sendmsg for each that listens. It checks no
// text, knows no rooms, commands or limits, and counts nothing. It expects its clients to read, and
// waits for one that does not. A server's cost divided by this one's shows the cost of its user
// code.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
  events_max = 512,
  backlog = 4096,
  parts_max = 64,
  input_bytes = 64 * 1024,
  turn_bytes_max = 32 * 1024 * 1024,
  lines_max = 1024 * 1024,
};

struct line {
  size_t begin, end;
  int next_own;  // the next span of the same connection; -1: the last
};

struct connection {
  int fd;
  int index;  // in `open`
  int first_own, last_own;
  unsigned long turn;  // the turn to which these two belong
  int prefix_bytes;
  char prefix[32];
  char* rest;  // the beginning of a line
  size_t rest_bytes;
};

static const int on = 1;
static char input[input_bytes];
static char* turn_bytes;
static size_t turn_size;
static struct line* lines;
static int line_count;
static unsigned long turn = 1;
static struct connection** connections;  // the open ones
static int open_count, open_room;
static long accepted;

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static int listen_on(int port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (listener < 0) fail("socket");
  if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) fail("SO_REUSEADDR");
  if (setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail("TCP_NODELAY");
  const struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons((unsigned short)port),
                                      .sin_addr = {htonl(INADDR_ANY)}};
  if (bind(listener, (const struct sockaddr*)&address, sizeof address) != 0) fail("bind");
  if (listen(listener, backlog) != 0) fail("listen");
  return listener;
}

static void accept_all(int poller, int listener) {
  for (;;) {
    const int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (fd < 0) return;
    struct connection* one = calloc(1, sizeof *one);
    if (one == NULL) fail("calloc");
    one->fd = fd;
    one->prefix_bytes = snprintf(one->prefix, sizeof one->prefix, "[USER%ld] ", ++accepted);
    if (open_count == open_room) {
      open_room = open_room == 0 ? 1024 : 2 * open_room;
      connections = realloc(connections, (size_t)open_room * sizeof *connections);
      if (connections == NULL) fail("realloc");
    }
    one->index = open_count;
    connections[open_count++] = one;
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = one};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll_ctl");
  }
}

static void close_one(struct connection* one) {
  close(one->fd);
  connections[one->index] = connections[--open_count];
  connections[one->index]->index = one->index;
  free(one->rest);
  free(one);
}

static void add_line(struct connection* one, const char* text, size_t size) {
  const size_t bytes = (size_t)one->prefix_bytes + one->rest_bytes + size;
  if (line_count == lines_max || turn_size + bytes > turn_bytes_max) {
    fprintf(stderr, "floor_chat: more in one turn than it is made for\n");
    exit(1);
  }
  struct line* line = &lines[line_count];
  line->begin = turn_size;
  memcpy(turn_bytes + turn_size, one->prefix, (size_t)one->prefix_bytes);
  turn_size += (size_t)one->prefix_bytes;
  if (one->rest_bytes > 0) memcpy(turn_bytes + turn_size, one->rest, one->rest_bytes);
  turn_size += one->rest_bytes;
  one->rest_bytes = 0;
  memcpy(turn_bytes + turn_size, text, size);
  turn_size += size;
  line->end = turn_size;
  line->next_own = -1;
  if (one->turn != turn) {
    one->turn = turn;
    one->first_own = line_count;
  } else {
    lines[one->last_own].next_own = line_count;
  }
  one->last_own = line_count++;
}

static void keep_rest(struct connection* one, const char* text, size_t size) {
  one->rest = realloc(one->rest, one->rest_bytes + size);
  if (one->rest == NULL) fail("realloc");
  memcpy(one->rest + one->rest_bytes, text, size);
  one->rest_bytes += size;
}

static void read_from(struct connection* one) {
  for (;;) {
    const ssize_t count = recv(one->fd, input, sizeof input, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      close_one(one);
      return;
    }
    const char* at = input;
    const char* const end = input + count;
    while (at < end) {
      const char* const feed = memchr(at, '\n', (size_t)(end - at));
      if (feed == NULL) {
        keep_rest(one, at, (size_t)(end - at));
        break;
      }
      add_line(one, at, (size_t)(feed + 1 - at));
      at = feed + 1;
    }
    if ((size_t)count < sizeof input) return;
  }
}

static void send_parts(int fd, struct iovec* parts, int count) {
  int first = 0;
  while (first < count) {
    const struct msghdr message = {.msg_iov = parts + first, .msg_iovlen = (size_t)(count - first)};
    ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno != EAGAIN) return;  // its end is read in the next turn
      struct pollfd writable = {.fd = fd, .events = POLLOUT};
      poll(&writable, 1, 1000);
      continue;
    }
    while (first < count && (size_t)sent >= parts[first].iov_len) {
      sent -= (ssize_t)parts[first++].iov_len;
    }
    if (first == count) return;
    parts[first].iov_base = (char*)parts[first].iov_base + sent;
    parts[first].iov_len -= (size_t)sent;
  }
}

static void send_to(const struct connection* one) {
  struct iovec parts[parts_max];
  int count = 0;
  size_t begin = 0;
  for (int own = one->turn == turn ? one->first_own : -1; own >= 0; own = lines[own].next_own) {
    if (lines[own].begin > begin) {
      parts[count++] = (struct iovec){turn_bytes + begin, lines[own].begin - begin};
    }
    begin = lines[own].end;
    if (count == parts_max) {
      send_parts(one->fd, parts, count);
      count = 0;
    }
  }
  if (turn_size > begin) parts[count++] = (struct iovec){turn_bytes + begin, turn_size - begin};
  if (count > 0) send_parts(one->fd, parts, count);
}

int main(int count, char** arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: floor_chat PORT\n");
    return 2;
  }
  const int listener = listen_on(atoi(arguments[1]));
  const int poller = epoll_create1(0);
  turn_bytes = malloc(turn_bytes_max);
  lines = malloc(lines_max * sizeof *lines);
  if (poller < 0 || turn_bytes == NULL || lines == NULL) fail("start");
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event) != 0) fail("epoll_ctl");
  printf("floor_chat: listening on port %s\n", arguments[1]);
  fflush(stdout);
  for (;;) {
    static struct epoll_event events[events_max];
    const int ready = epoll_wait(poller, events, events_max, -1);
    for (int index = 0; index < ready; ++index) {
      if (events[index].data.ptr == NULL) {
        accept_all(poller, listener);
      } else {
        read_from(events[index].data.ptr);
      }
    }
    if (turn_size == 0) continue;
    for (int index = 0; index < open_count; ++index) send_to(connections[index]);
    turn_size = 0;
    line_count = 0;
    ++turn;
  }
}

// SPDX-License-Identifier: Apache-2.0
