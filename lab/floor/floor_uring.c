// floor_uring: the cost of the kernel alone on io_uring, as a server of one thread.
//
//   floor_uring PORT   one reply for every CR LF CR LF it receives; connections stay open
//
// It uses multishot accept, multishot receive into a ring of provided buffers, and one
// io_uring_enter per batch. Each received buffer gets one send, whose success is not reported. Like
// floor_epoll it parses nothing and trusts its client.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// liburing's inline functions convert signs and widths freely; our own flags are not for them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <liburing.h>
#pragma GCC diagnostic pop

static const char reply[] =
    "HTTP/1.1 200 OK\r\nServer: floor\r\nDate: Sat, 21 Nov 2026 00:00:00 GMT\r\n"
    "Content-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!";

enum {
  reply_bytes = sizeof reply - 1,
  replies_max = 64,
  buffers = 1024,
  buffer_bytes = 4096,
  submissions = 2048,
  completions = 8192,
  backlog = 4096,
};
enum operation { operation_accept = 1, operation_receive = 2, operation_send = 3 };

static const int on = 1;
static char replies[replies_max * reply_bytes];
static struct io_uring ring;
static struct io_uring_buf_ring* buffer_ring;
static char* buffer_pool;

static void fail(const char* what, int error) {
  fprintf(stderr, "%s: %s\n", what, strerror(error));
  exit(1);
}

static int listen_on(int port) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (listener < 0) fail("socket", errno);
  if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0)
    fail("SO_REUSEADDR", errno);
  if (setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0)
    fail("SO_REUSEPORT", errno);
  const struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons((in_port_t)port),
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(listener, (const struct sockaddr*)&address, sizeof address) != 0) fail("bind", errno);
  if (listen(listener, backlog) != 0) fail("listen", errno);
  return listener;
}

static struct io_uring_sqe* next_submission(void) {
  struct io_uring_sqe* entry;
  while ((entry = io_uring_get_sqe(&ring)) == NULL) io_uring_submit(&ring);
  return entry;
}

// The descriptor and the operation travel in one word; bit 8 is the descriptor's lowest.
static void tag(struct io_uring_sqe* entry, int fd, enum operation operation) {
  io_uring_sqe_set_data64(entry, (uint64_t)fd << 8 | operation);
}

static void give_buffer(int index, int offset) {
  io_uring_buf_ring_add(buffer_ring, buffer_pool + (size_t)index * buffer_bytes, buffer_bytes,
                        (unsigned short)index, buffers - 1, offset);
}

static void start_ring(void) {
  struct io_uring_params parameters = {
      .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE,
      .cq_entries = completions};
  int result = io_uring_queue_init_params(submissions, &ring, &parameters);
  if (result != 0) fail("io_uring_queue_init_params", -result);
  io_uring_register_ring_fd(&ring);  // a little cheaper to enter; works without

  const size_t ring_bytes = buffers * sizeof(struct io_uring_buf);
  buffer_ring = aligned_alloc(4096, ring_bytes);
  buffer_pool = malloc((size_t)buffers * buffer_bytes);
  if (buffer_ring == NULL || buffer_pool == NULL) fail("malloc", ENOMEM);
  memset(buffer_ring, 0, ring_bytes);
  struct io_uring_buf_reg registration = {
      .ring_addr = (uint64_t)buffer_ring, .ring_entries = buffers, .bgid = 0};
  result = io_uring_register_buf_ring(&ring, &registration, 0);
  if (result != 0) fail("io_uring_register_buf_ring", -result);
  for (int index = 0; index < buffers; ++index) give_buffer(index, index);
  io_uring_buf_ring_advance(buffer_ring, buffers);
}

static void arm_accept(int listener) {
  struct io_uring_sqe* entry = next_submission();
  io_uring_prep_multishot_accept(entry, listener, NULL, NULL, 0);
  tag(entry, 0, operation_accept);
}

static void arm_receive(int connection) {
  struct io_uring_sqe* entry = next_submission();
  io_uring_prep_recv_multishot(entry, connection, NULL, 0, 0);
  entry->flags |= IOSQE_BUFFER_SELECT;
  entry->buf_group = 0;
  tag(entry, connection, operation_receive);
}

static void send_replies(int connection, size_t count) {
  struct io_uring_sqe* entry = next_submission();
  io_uring_prep_send(entry, connection, replies, count * reply_bytes, MSG_NOSIGNAL);
  entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
  tag(entry, connection, operation_send);
}

static size_t count_requests(const char* at, const char* end) {
  size_t count = 0;
  while ((at = memmem(at, (size_t)(end - at), "\r\n\r\n", 4)) != NULL) {
    at += 4;
    ++count;
  }
  return count < replies_max ? count : replies_max;
}

static void on_accepted(int result) {
  if (result < 0) return;
  if (setsockopt(result, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail("TCP_NODELAY", errno);
  arm_receive(result);
}

// Returns how many buffers went back into the ring: one or none. They count once advanced.
static int on_received(int connection, const struct io_uring_cqe* completion, int given_back) {
  if (completion->res == -ENOBUFS) {
    arm_receive(connection);
    return 0;
  }
  if (completion->res <= 0) {
    close(connection);
    return 0;
  }
  const int index = (int)(completion->flags >> IORING_CQE_BUFFER_SHIFT);
  const char* bytes = buffer_pool + (size_t)index * buffer_bytes;
  const size_t count = count_requests(bytes, bytes + completion->res);
  give_buffer(index, given_back);
  send_replies(connection, count);
  if (!(completion->flags & IORING_CQE_F_MORE)) arm_receive(connection);
  return 1;
}

static void turn(void) {
  io_uring_submit_and_wait(&ring, 1);
  struct io_uring_cqe* completion;
  unsigned head;
  unsigned seen = 0;
  int given_back = 0;
  io_uring_for_each_cqe(&ring, head, completion) {
    ++seen;
    const int fd = (int)(completion->user_data >> 8);
    switch ((enum operation)(completion->user_data & 255)) {
      case operation_accept: on_accepted(completion->res); break;
      case operation_receive: given_back += on_received(fd, completion, given_back); break;
      case operation_send: break;  // only failures are reported; the receive sees the end, too
    }
  }
  if (given_back > 0) io_uring_buf_ring_advance(buffer_ring, given_back);
  io_uring_cq_advance(&ring, seen);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fputs("usage: floor_uring PORT\n", stderr);
    return 2;
  }
  for (int index = 0; index < replies_max; ++index)
    memcpy(replies + index * reply_bytes, reply, reply_bytes);
  const int listener = listen_on(atoi(argv[1]));
  start_ring();
  arm_accept(listener);
  for (;;) turn();
}

// SPDX-License-Identifier: Apache-2.0
