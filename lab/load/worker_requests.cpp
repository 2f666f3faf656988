// Worker: writing requests and reading replies.
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "lab/load/worker.hpp"

namespace katana::load {
namespace {

constexpr std::size_t scratch_bytes = 64 * 1024;
constexpr int receives_max = 16;  // on one connection, before others have their turn
constexpr std::size_t gathered_max = 64;

const std::string& octets_of(const Target& target, const InFlight& request) {
  const Request& chosen = target.requests[request.request];
  return request.closing ? chosen.closing_octets : chosen.octets;
}

}  // namespace

InFlight& Worker::place(const Connection& connection, std::uint32_t offset) noexcept {
  std::uint32_t at = connection.first + offset;
  if (at >= plan_.pipeline) at -= plan_.pipeline;
  return in_flight_[std::size_t{connection.index} * plan_.pipeline + at];
}

bool Worker::has_capacity(const Connection& connection) const noexcept {
  return connection.state == Connection::State::open && can_ask(connection);
}

// One request more.
bool Worker::can_ask(const Connection& connection) const noexcept {
  const std::uint32_t asked_max = plan_.requests_per_connection;
  if (connection.in_flight >= plan_.pipeline) return false;
  if (asked_max != 0 && connection.asked >= asked_max) return false;
  if (http2_ == nullptr) return true;
  const Http2Connection& link = http2_of(connection);
  return link.machine().can_begin() &&
         link.outbox().has_capacity(2 * http2_->block_bytes_max + 512);
}

// Closed loop: as many requests as the connection may have in flight.
void Worker::feed(Connection& connection) {
  const std::uint32_t before = connection.in_flight;
  while (may_send() && is_wanted(connection) && can_ask(connection)) {
    push_request(connection, now_ns_);
  }
  if (connection.in_flight != before || http2_ != nullptr) flush(connection);
}

// Closed loop: all replies of the turn were read first. A send takes several times as long as a
// receive, and a reply that waits for the sends of others would look late.
void Worker::feed_hungry() {
  for (const std::uint32_t index : hungry_) {
    Connection& connection = connections_[index];
    connection.is_hungry = false;
    if (connection.state != Connection::State::open) continue;
    read_clock();
    feed(connection);
  }
  hungry_.clear();
}

void Worker::push_request(Connection& connection, std::int64_t due_ns) {
  ++connection.asked;
  const bool closing = connection.asked == plan_.requests_per_connection;
  const InFlight request{due_ns, now_ns_, next_request_, closing};
  if (http2_ != nullptr) {
    begin_stream(connection, request);
  } else {
    place(connection, connection.in_flight) = request;
    ++connection.unwritten;
  }
  if (++next_request_ == target_.requests.size()) next_request_ = 0;
  ++connection.in_flight;
  ++all_in_flight_;
  --budget_;
  if (due_ns >= window_begin_ns_) ++now_->counts.sent;
}

void Worker::flush(Connection& connection) {
  if (tls_ != nullptr) return flush_sealed(connection);
  if (http2_ != nullptr) return flush_frames(connection);
  while (connection.unwritten > 0) {
    const long written = write_some(connection);
    if (written >= 0) {
      on_written(connection, static_cast<std::size_t>(written));
      continue;
    }
    if (errno == EINTR) continue;
    return on_write_error(connection, errno);
  }
}

void Worker::on_write_error(Connection& connection, int error) {
  if (error == EAGAIN) return;  // EPOLLOUT will say when there is room again
  if (connection.state == Connection::State::connecting) return fail_connect(connection, error);
  // The server is gone. Its last bytes are still to be read, and then the reason.
  if (connection.is_in_again) return;
  connection.is_in_again = true;
  again_.push_back(connection.index);
}

long Worker::write_some(Connection& connection) {
  std::uint32_t offset = connection.in_flight - connection.unwritten;
  if (connection.unwritten == 1) {
    const std::string& octets = octets_of(target_, place(connection, offset));
    return ::send(connection.fd, octets.data() + connection.written_bytes,
                  octets.size() - connection.written_bytes, MSG_NOSIGNAL);
  }
  iovec pieces[gathered_max];
  std::size_t count = 0;
  for (; offset < connection.in_flight && count < gathered_max; ++offset, ++count) {
    const std::string& octets = octets_of(target_, place(connection, offset));
    const std::size_t skipped = count == 0 ? connection.written_bytes : 0;
    pieces[count] = {const_cast<char*>(octets.data()) + skipped, octets.size() - skipped};
  }
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = count;
  return ::sendmsg(connection.fd, &message, MSG_NOSIGNAL);
}

void Worker::on_written(Connection& connection, std::size_t bytes) {
  if (connection.state == Connection::State::connecting) {
    read_clock();
    on_established(connection);
  }
  if (is_window_noted_) now_->counts.bytes_sent += bytes;
  note_written(connection, bytes);
}

void Worker::note_written(Connection& connection, std::size_t bytes) noexcept {
  bytes += connection.written_bytes;
  while (connection.unwritten > 0) {
    const std::uint32_t offset = connection.in_flight - connection.unwritten;
    const std::size_t whole = octets_of(target_, place(connection, offset)).size();
    if (bytes < whole) break;
    bytes -= whole;
    --connection.unwritten;
  }
  connection.written_bytes = static_cast<std::uint32_t>(bytes);
}

// The bytes of one TLS record: the rest of a request in place, or of several, copied into `room`.
Bytes Worker::unwritten_octets(const Connection& connection, char* room) noexcept {
  std::size_t size = 0;
  std::size_t skipped = connection.written_bytes;
  for (std::uint32_t left = connection.unwritten; left > 0 && size < tls::record_bytes_max;
       --left) {
    const std::uint32_t offset = connection.in_flight - left;
    const Bytes rest = Bytes(octets_of(target_, place(connection, offset))).substr(skipped);
    if (connection.unwritten == 1) return rest;
    const std::size_t taken = std::min(rest.size(), tls::record_bytes_max - size);
    std::memcpy(room + size, rest.data(), taken);
    size += taken;
    skipped = 0;
  }
  return {room, size};
}

// Sends as much of an outbox as one call takes. Negative: errno has the reason.
long Worker::send_some(Connection& connection, Outbox& outbox) {
  iovec pieces[gathered_max];
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = outbox.gather(pieces);
  const long sent = message.msg_iovlen == 1
                        ? ::send(connection.fd, pieces[0].iov_base, pieces[0].iov_len, MSG_NOSIGNAL)
                        : ::sendmsg(connection.fd, &message, MSG_NOSIGNAL);
  if (sent < 0) return sent;
  if (is_window_noted_) now_->counts.bytes_sent += static_cast<std::uint64_t>(sent);
  outbox.advance(static_cast<std::size_t>(sent));
  return sent;
}

// The socket has not taken all there is.
bool Worker::has_unsent(const Connection& connection) const noexcept {
  return connection.unwritten > 0 || (tls_ != nullptr && !tls_of(connection).output().empty());
}

// `until_end`: the server has ended or broken the connection, so a short read is not the last.
void Worker::receive(Connection& connection, bool until_end) {
  for (int count = 0; count < receives_max; ++count) {
    const ssize_t got = ::recv(connection.fd, scratch_.get(), scratch_bytes, 0);
    if (got > 0) {
      read_clock();
      const auto bytes = static_cast<std::size_t>(got);
      if (is_window_noted_) now_->counts.bytes_received += bytes;
      const Bytes got_bytes(scratch_.get(), bytes);
      const bool is_there =
          tls_ != nullptr ? unseal(connection, got_bytes) : take(connection, got_bytes);
      if (!is_there) return;
      if (bytes < scratch_bytes && !until_end) return;
    } else if (got == 0) {
      return on_end(connection);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      return on_reset(connection);
    }
  }
  if (connection.is_in_again) return;
  connection.is_in_again = true;
  again_.push_back(connection.index);
}

void Worker::receive_again(Connection& connection) {
  connection.is_in_again = false;
  if (connection.state >= Connection::State::securing) receive(connection, true);
}

// False: the connection was closed, or is another one by now.
bool Worker::take(Connection& connection, Bytes bytes) {
  if (connection.carry.empty()) {
    if (!take_all(connection, bytes)) return false;
  } else {
    std::string whole = std::exchange(connection.carry, {});
    whole.append(bytes);
    if (!take_all(connection, whole)) return false;
  }
  if (!plan_.is_open_loop() && !connection.is_hungry) {
    connection.is_hungry = true;
    hungry_.push_back(connection.index);
  }
  return true;
}

bool Worker::take_all(Connection& connection, Bytes rest) {
  if (http2_ != nullptr) return take_frames(connection, rest);
  if (plan_.websocket) return take_messages(connection, rest);
  std::size_t before = 0;
  while (!rest.empty() && rest.size() != before) {
    before = rest.size();
    if (!take_step(connection, rest)) return false;
  }
  if (!rest.empty()) connection.carry.assign(rest);  // a line that has not ended yet
  return true;
}

bool Worker::take_step(Connection& connection, Bytes& input) {
  const bool nothing_was_sent =
      connection.in_flight == connection.unwritten && connection.written_bytes == 0;
  if (nothing_was_sent) {
    now_->counts.count(Failure::unsolicited);
    withdraw_requests(connection);
    reopen(connection, true);
    return false;
  }
  const InFlight& request = place(connection, 0);
  const bool to_head = target_.requests[request.request].is_head;
  const ResponseMachine::Step step = connection.machine.next(input, to_head, memo_);
  input.remove_prefix(step.consumed);
  take_content(connection.answer, step.content);
  switch (step.event) {
    case ResponseMachine::Event::needs_more:
    case ResponseMachine::Event::content: return true;
    case ResponseMachine::Event::interim: ++now_->counts.interims; return true;
    case ResponseMachine::Event::complete: return end_reply(connection);
    case ResponseMachine::Event::malformed: break;
  }
  fail_requests(connection, Failure::malformed);
  reopen(connection, true);
  return false;
}

void Worker::take_content(Answer& answer, Bytes content) const noexcept {
  if (content.empty()) return;
  if (plan_.expect.body) {
    const Bytes wanted = *plan_.expect.body;
    const std::size_t at = std::min<std::size_t>(answer.content_bytes, wanted.size());
    if (wanted.substr(at, content.size()) != content) answer.body_differs = true;
  }
  answer.content_bytes += content.size();
}

// False: the connection was closed.
bool Worker::end_reply(Connection& connection) {
  const InFlight request = place(connection, 0);
  const bool is_written = connection.in_flight > connection.unwritten;
  connection.answer.status = connection.machine.status();
  end_front(connection);
  // A reply to a request that is not wholly written (413, say) leaves half a request behind.
  if (!is_written) --connection.unwritten;
  if (connection.machine.keeps_open() && !request.closing && is_written) {
    make_ready(connection);
    return true;
  }
  fail_requests(connection, Failure::closed_early);
  reopen(connection, false);
  open_queued();
  return false;
}

// The reply to the request that was sent first is whole.
void Worker::end_front(Connection& connection) {
  judge(connection.answer, place(connection, 0));
  connection.answer = {};
  connection.failures = 0;
  --connection.in_flight;
  --all_in_flight_;
  if (++connection.first == plan_.pipeline) connection.first = 0;
}

void Worker::judge(const Answer& answer, const InFlight& request) {
  Counts& counts = now_->counts;
  own_.last_reply_ns = now_ns_;
  if (request.due_ns < window_begin_ns_) {
    ++counts.warm_up;
    if (now_ns_ >= window_begin_ns_ && now_ns_ < window_end_ns_) ++counts.completions;
    return;
  }
  const Expectation& expect = plan_.expect;
  counts.content_bytes += answer.content_bytes;
  if (!plan_.websocket) {
    ++counts.statuses[answer.status];
    if (!expect.statuses[answer.status]) return counts.count(Failure::wrong_status);
  }
  if (expect.length_bytes && answer.content_bytes != *expect.length_bytes) {
    return counts.count(Failure::wrong_length);
  }
  const bool is_short = expect.body && answer.content_bytes != expect.body->size();
  if (answer.body_differs || is_short) return counts.count(Failure::wrong_body);
  ++counts.requests;
  if (now_ns_ < window_end_ns_) ++counts.completions;
  now_->latency.record(now_ns_ - request.due_ns);
  now_->receive_lag.record(now_ns_ - turn_ns_);
}

void Worker::on_reset(Connection& connection) {
  read_clock();
  if (connection.state == Connection::State::securing) {
    return fail_handshake(
        connection, fmt::format("the server broke the connection off in the {}", handshake_name()));
  }
  fail_requests(connection, Failure::reset);
  reopen(connection, true);
}

// The server sends no more.
void Worker::on_end(Connection& connection) {
  read_clock();
  if (connection.state == Connection::State::securing) {
    return fail_handshake(
        connection, fmt::format("the server ended the connection in the {}", handshake_name()));
  }
  if (connection.in_flight == 0) {
    ++now_->counts.closed_idle;
    return reopen(connection, connection.asked == 0);
  }
  // Without close_notify an attacker may have cut short a reply that its end delimits (RFC 9112
  // §9.8).
  const bool is_cut = tls_ != nullptr && tls_of(connection).machine().end_of_input();
  const bool is_whole = http2_ == nullptr && !plan_.websocket && !is_cut &&
                        connection.machine.end_of_input() == ResponseMachine::Event::complete;
  if (is_whole) {
    end_reply(connection);
    return;
  }
  fail_requests(connection, Failure::closed_early);
  reopen(connection, true);
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
