// Worker: TLS between the socket and the bytes of a connection.
#include <fmt/format.h>

#include <cerrno>
#include <span>
#include <utility>

#include "lab/load/worker.hpp"

namespace katana::load {
namespace {

const char* version_of(const tls::Machine& machine) noexcept {
  return machine.version() == TLS1_3_VERSION ? "TLS 1.3" : "TLS 1.2";
}

std::string sentence_of(const tls::Machine& machine, const std::string& name) {
  const char* remedy = "";
  switch (machine.failure()) {
    case tls::Failure::client_certificate:
      remedy = ": trust it with --ca FILE, or whoever answers with --insecure";
      break;
    case tls::Failure::not_tls: remedy = ": a server without TLS is loaded by http://"; break;
    default: break;
  }
  return tls::describe_failure(machine, name) + remedy;
}

}  // namespace

// The connection is there. False: it was closed.
bool Worker::begin_handshake(Connection& connection) {
  note_connected(connection);
  connection.state = Connection::State::securing;
  connection.since_ns = now_ns_;
  if (!tls_of(connection).begin({now_ns_})) {
    fail_handshake(connection, "there is no memory for a TLS connection");
    return false;
  }
  flush_sealed(connection);
  return true;
}

// False: the connection was closed.
bool Worker::end_handshake(Connection& connection) {
  const tls::Machine& machine = tls_of(connection).machine();
  const Bytes chosen = machine.application_protocol();
  if (http2_ != nullptr && chosen != "h2") {
    const std::string named = chosen.empty() ? "no protocol" : fmt::format("'{}'", chosen);
    fail_handshake(connection, fmt::format("the server chose {} and not HTTP/2 ('h2', by ALPN): "
                                           "leave --http2 out",
                                           named));
    return false;
  }
  if (tls_->agreed.empty()) {
    tls_->agreed = fmt::format("{}, {}, {}", version_of(machine), machine.cipher(),
                               chosen.empty() ? Bytes("no ALPN") : chosen);
  }
  read_clock();  // it took its time
  if (is_counted()) {
    ++now_->counts.handshakes;
    now_->counts.resumed += machine.resumed() ? 1 : 0;
    now_->handshake.record(now_ns_ - connection.since_ns);
  }
  if (is_window_noted_ && now_ns_ < window_end_ns_) ++now_->counts.handshakes_in_window;
  become_open(connection);
  if (!plan_.is_open_loop()) feed(connection);
  return true;
}

void Worker::fail_handshake(Connection& connection, std::string problem) {
  std::string& first = tls_ != nullptr ? tls_->problem : upgrade_problem_;
  if (first.empty()) first = std::move(problem);
  if (is_counted()) now_->counts.count(Failure::handshake_failed);
  if (connection.state != Connection::State::open) settle_first(connection);
  reopen(connection, true);
}

void Worker::flush_sealed(Connection& connection) {
  Outbox& output = tls_of(connection).output();
  for (;;) {
    while (output.pending() < TlsConnection::sealed_bytes_enough && seal_some(connection)) continue;
    if (output.empty()) return;
    if (send_some(connection, output) < 0 && errno != EINTR) {
      return on_write_error(connection, errno);
    }
  }
}

// One record. False: there is nothing to be sealed, or it cannot be.
bool Worker::seal_some(Connection& connection) {
  TlsConnection& link = tls_of(connection);
  if (!link.machine().can_seal()) return false;
  const Bytes plain = unsealed(connection);
  if (plain.empty()) return false;
  const std::size_t sealed = link.machine().seal(plain, link.output());
  if (http2_ != nullptr) {
    http2_of(connection).outbox().advance(sealed);
  } else {
    note_written(connection, sealed);
  }
  return sealed > 0;
}

// The bytes of the next record, if there are any.
Bytes Worker::unsealed(Connection& connection) {
  if (http2_ == nullptr) return unwritten_octets(connection, tls_->gathered.get());
  Http2Connection& link = http2_of(connection);
  if (link.uploads > 0) upload(connection);
  return front_of(link.outbox(), tls_->gathered.get());
}

// False: the connection was closed, or is another one by now.
bool Worker::unseal(Connection& connection, Bytes input) {
  TlsConnection& link = tls_of(connection);
  const std::span<char> plain(tls_->plain.get(), plain_bytes);
  for (;;) {
    const tls::Step step = link.machine().next(input, plain, link.output(), {now_ns_});
    input.remove_prefix(step.consumed);
    switch (step.event) {
      case tls::Event::bytes:
        if (!take(connection, Bytes(plain.data(), step.produced))) return false;
        break;
      case tls::Event::opened:
        if (!end_handshake(connection)) return false;
        break;
      case tls::Event::ended: on_end(connection); return false;
      case tls::Event::failed: on_tls_failed(connection); return false;
      case tls::Event::hello: break;  // a server's
      case tls::Event::need_bytes:
        if (!link.output().empty()) flush_sealed(connection);
        return true;
    }
  }
}

// With TLS 1.3 a client has opened when the server may still refuse it, for example its
// certificate.
void Worker::on_tls_failed(Connection& connection) {
  TlsConnection& link = tls_of(connection);
  std::string problem = sentence_of(link.machine(), tls_->name);
  if (!link.output().empty()) flush_sealed(connection);  // the alert
  if (connection.in_flight == 0) return fail_handshake(connection, std::move(problem));
  if (tls_->problem.empty()) tls_->problem = std::move(problem);
  fail_requests(connection, Failure::tls_broken);
  reopen(connection, true);
}

void Worker::say_end(Connection& connection) {
  TlsConnection& link = tls_of(connection);
  link.end();
  // Ignored: the connection is closed, whether the server hears of it or not.
  if (!link.output().empty()) (void)send_some(connection, link.output());
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
