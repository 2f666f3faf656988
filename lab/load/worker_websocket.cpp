// Worker: a WebSocket connection, whose handshake is over before the first message is sent.
#include <sys/socket.h>

#include <fmt/format.h>

#include "katana/wire/ws/frame.hpp"
#include "katana/wire/ws/mask.hpp"
#include "lab/load/websocket_messages.hpp"
#include "lab/load/worker.hpp"

namespace katana::load {
namespace {

constexpr std::size_t handshake_bytes_max = 16 * 1024;
constexpr std::uint32_t pong_mask = 0;

}  // namespace

// The connection is there. False: it was closed.
bool Worker::begin_upgrade(Connection& connection) {
  note_connected(connection);
  connection.state = Connection::State::securing;
  connection.since_ns = now_ns_;
  const std::string& octets = target_.upgrade;
  const long sent = ::send(connection.fd, octets.data(), octets.size(), MSG_NOSIGNAL);
  if (sent == static_cast<long>(octets.size())) return true;
  fail_handshake(connection, "the WebSocket handshake could not be sent");
  return false;
}

// False: the connection was closed.
bool Worker::take_upgrade(Connection& connection, Bytes& rest) {
  const std::size_t end = rest.find("\r\n\r\n");
  if (end == Bytes::npos) {
    if (rest.size() <= handshake_bytes_max) return true;  // the rest of the head is yet to come
    fail_handshake(connection, "the reply to the WebSocket handshake has no end");
    return false;
  }
  const Bytes head = rest.substr(0, end + 2);
  if (!is_upgraded(head)) {
    fail_handshake(connection, fmt::format("the server does not speak WebSocket at {}: it answered "
                                           "'{}'",
                                           target_.url.path, head.substr(0, head.find("\r\n"))));
    return false;
  }
  rest.remove_prefix(end + 4);
  become_open(connection);
  if (!plan_.is_open_loop()) feed(connection);
  return true;
}

// False: the connection was closed, or is another one by now.
bool Worker::take_messages(Connection& connection, Bytes rest) {
  if (connection.state == Connection::State::securing) {
    const std::size_t before = rest.size();
    if (!take_upgrade(connection, rest)) return false;
    if (rest.size() == before) return carry_on(connection, rest);
  }
  while (!rest.empty()) {
    const ws::Frame frame = ws::read_frame(rest, false, false);
    const bool is_bad = frame.refusal != ws::Refusal::none;
    const bool is_whole =
        frame.header_bytes != 0 && rest.size() - frame.header_bytes >= frame.length;
    if (!is_bad && !is_whole) break;
    if (is_bad || frame.opcode == ws::Opcode::close) {
      fail_requests(connection, is_bad ? Failure::malformed : Failure::closed_early);
      reopen(connection, true);
      return false;
    }
    const Bytes payload = rest.substr(frame.header_bytes, frame.length);
    rest.remove_prefix(frame.header_bytes + frame.length);
    if (!take_message(connection, frame, payload)) return false;
  }
  return carry_on(connection, rest);
}

bool Worker::carry_on(Connection& connection, Bytes rest) {
  if (!rest.empty()) connection.carry.assign(rest);
  return true;
}

// One frame. False: the connection was closed.
bool Worker::take_message(Connection& connection, const ws::Frame& frame, Bytes payload) {
  if (ws::is_control(frame.opcode)) {
    if (frame.opcode == ws::Opcode::ping) send_pong(connection, payload);
    return true;
  }
  if (connection.in_flight == connection.unwritten) {
    now_->counts.count(Failure::unsolicited);
    withdraw_requests(connection);
    reopen(connection, true);
    return false;
  }
  take_content(connection.answer, payload);
  if (!frame.last) return true;
  const bool is_last = place(connection, 0).closing;
  end_front(connection);
  if (!is_last) {
    make_ready(connection);
    return true;
  }
  fail_requests(connection, Failure::closed_early);
  reopen(connection, false);
  open_queued();
  return false;
}

// A message that is not wholly written has to be ended first; the server asks again then.
void Worker::send_pong(Connection& connection, Bytes payload) {
  if (connection.unwritten > 0) return;
  char frame[ws::header_bytes_max + ws::control_bytes_max];
  char* const at =
      ws::write_header(frame, ws::Opcode::pong, true, false, payload.size(), true, pong_mask);
  ws::copy_masked(at, payload.data(), payload.size(), pong_mask);
  const auto size = static_cast<std::size_t>(at - frame) + payload.size();
  // Ignored: without room in the socket there is a message on its way, which says as much.
  (void)::send(connection.fd, frame, size, MSG_NOSIGNAL);
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
