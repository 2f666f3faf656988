#include "katana/testing/postgres/fake/fake_session.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <utility>

#include "katana/wire/postgres/limits.hpp"

namespace katana::testing {
namespace {

using engine::SimSide;
using katana::postgres::ByteReader;

constexpr std::uint32_t cancel_code = 80'877'102;
constexpr std::uint32_t tls_code = 80'877'103;
constexpr std::uint32_t gss_code = 80'877'104;
constexpr std::size_t header_bytes = 5;

std::string zero_ended(Bytes text) { return std::string(text) + '\0'; }

// A column whose rows have this format.
std::string column_of(Bytes name, PgType type, bool is_binary) {
  return zero_ended(name) + in_network_order(0, 6) +
         in_network_order(static_cast<std::uint32_t>(type), 4) + in_network_order(0xffff, 2) +
         in_network_order(0xffff'ffff, 4) + in_network_order(is_binary ? 1 : 0, 2);
}

}  // namespace

// ---- bytes

void FakeSession::begin() {
  connection_->attach(SimSide::server, this);
  script_.network.open_descriptor(connection_->number(), true);
  connection_->establish();
}

void FakeSession::reset() {
  if (std::exchange(is_over_, true)) return;
  connection_->reset(SimSide::server);
}

void FakeSession::on_stream(engine::SimConnection& connection) {
  const auto kept = shared_from_this();
  receive();
  const bool is_broken = connection.broken(SimSide::server);
  if (is_broken || connection.ended(SimSide::server)) leave(is_broken);
  go_on();
}

// The connection is over. Messages that have arrived are still executed, unless a fault holds them.
void FakeSession::leave(bool resets) {
  if (is_over_ || std::exchange(is_left_, true)) return;
  is_over_ = !is_started_;
  if (resets) return connection_->reset(SimSide::server);
  connection_->close(SimSide::server);
}

void FakeSession::receive() {
  std::size_t count = connection_->arrived(SimSide::server);
  if (count == 0) return;
  const bool is_last = script_.received_left && count >= *script_.received_left;
  if (is_last) count = *script_.received_left;
  if (script_.received_left) *script_.received_left -= count;
  input_ += connection_->take(SimSide::server, count);
  connection_->acknowledge(SimSide::server, count);
  if (!is_last) return;
  script_.received_left.reset();
  leave(true);  // what is executed now is not answered
}

void FakeSession::go_on() {
  while (!is_over_ && !script_.hangs && !waits_) {
    if (is_started_ ? take_message() : take_start()) continue;
    is_over_ = is_left_;
    return;
  }
}

void FakeSession::write(char type, const std::string& body) {
  output_ += type + in_network_order(static_cast<std::uint32_t>(body.size() + 4), 4) + body;
}

void FakeSession::flush() {
  const std::string bytes = std::exchange(output_, {});
  if (!is_connected() || bytes.empty()) return;
  if (!script_.sent_left || *script_.sent_left >= bytes.size()) {
    if (script_.sent_left) *script_.sent_left -= bytes.size();
    return connection_->write(SimSide::server, bytes);
  }
  connection_->write(SimSide::server, Bytes(bytes).substr(0, *script_.sent_left));
  script_.sent_left.reset();
  leave(true);
}

// ---- the start

// False: the message has not arrived yet.
bool FakeSession::take_start() {
  if (input_.size() < 8) return false;
  ByteReader message(input_);
  const std::size_t size = message.take_32();
  const std::uint32_t code = message.take_32();
  if (size < 8 || size > katana::postgres::startup_bytes_max) {
    reset();
    return true;
  }
  if (input_.size() < size) return false;
  input_.erase(0, size);
  if (code == tls_code || code == gss_code) {
    output_ += 'N';
    flush();
  } else if (code == cancel_code) {
    reset();
  } else {
    log_in();
  }
  return true;
}

void FakeSession::log_in() {
  if (script_.refusals_left > 0) {
    --script_.refusals_left;
    write('E', zero_ended("SFATAL") + zero_ended("VFATAL") +
                   zero_ended("C" + script_.refusal_state) +
                   zero_ended("Mthe database system is starting up") + '\0');
    flush();
    is_over_ = true;
    return connection_->close(SimSide::server);
  }
  is_started_ = true;
  ++script_.logins;
  write('R', in_network_order(0, 4));
  write_setting("server_version", "17.0");
  write_setting("client_encoding", "UTF8");
  write_setting("standard_conforming_strings", "on");
  write_setting("integer_datetimes", "on");
  write_setting("default_transaction_read_only", "off");
  write_setting("in_hot_standby", server_.is_primary ? "off" : "on");
  write_ready();
  flush();
}

void FakeSession::tell_role() {
  if (!is_started_ || is_over_) return;
  write_setting("in_hot_standby", server_.is_primary ? "off" : "on");
  flush();
}

// ---- messages

bool FakeSession::take_message() {
  if (input_.size() < header_bytes) return false;
  ByteReader header(input_);
  const char type = static_cast<char>(header.take_8());
  const std::size_t size = header.take_32();
  if (size < 4) {
    reset();
    return true;
  }
  if (input_.size() < 1 + size) return false;
  const std::string body = input_.substr(header_bytes, size - 4);
  if (!skips_ && is_delayed(type, body)) return true;
  input_.erase(0, 1 + size);
  handle(type, body);
  return true;
}

// True: it waits. Earlier answers leave now.
bool FakeSession::is_delayed(char type, Bytes body) {
  if (type != 'E' || std::exchange(has_waited_, false) || script_.delay <= Duration{}) return false;
  const auto portal = portals_.find(std::string(ByteReader(body).take_text()));
  if (portal == portals_.end()) return false;
  const Statement& statement = portal->second.statement;
  if (statement.answer == nullptr && !statement.text.starts_with("COMMIT")) return false;
  flush();
  waits_ = has_waited_ = true;
  script_.network.timer(script_.delay, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr || self->is_over_) return;
    self->waits_ = false;
    self->go_on();
  });
  return true;
}

void FakeSession::handle(char type, Bytes body) {
  if (skips_ && type != 'S' && type != 'X') return;
  switch (type) {
    case 'P': return parse(ByteReader(body));
    case 'B': return bind(ByteReader(body));
    case 'D': return describe(ByteReader(body));
    case 'E': {
      const auto portal = portals_.find(std::string(ByteReader(body).take_text()));
      if (portal == portals_.end()) return fail("34000", "the portal does not exist");
      return execute(portal->second);
    }
    case 'C': return write('3', {});
    case 'H': return flush();
    case 'S': return sync();
    case 'Q': return query(ByteReader(body).take_text());
    case 'X': is_over_ = true; return connection_->close(SimSide::server);
    default: return fail("0A000", "FakePostgres does not have this message of the protocol");
  }
}

void FakeSession::parse(ByteReader body) {
  const std::string name(body.take_text());
  const std::string text(body.take_text());
  Statement made{.text = in_one_line(text), .answer = script_.find(text)};
  statements_.insert_or_assign(name, std::move(made));
  write('1', {});
}

void FakeSession::bind(ByteReader body) {
  const std::string portal(body.take_text());
  const auto statement = statements_.find(std::string(body.take_text()));
  if (statement == statements_.end()) return fail("26000", "the statement does not exist");
  Portal made;
  made.statement = statement->second;
  std::vector<bool> are_binary(body.take_16());
  for (auto&& each : are_binary) each = body.take_16() == 1;
  const std::size_t count = body.take_16();
  for (std::size_t index = 0; index < count && body.is_good(); ++index) {
    const std::uint32_t size = body.take_32();
    if (size == UINT32_MAX) {
      made.values.emplace_back();
      continue;
    }
    const Bytes bytes = body.take(size);
    const bool is_binary = are_binary.size() == 1 ? are_binary.front()
                                                  : index < are_binary.size() && are_binary[index];
    PgType type = PgType::text;
    if (made.statement.answer != nullptr && index < made.statement.answer->parameters.size()) {
      type = made.statement.answer->parameters[index];
    }
    made.values.emplace_back(is_binary ? decode_binary(type, bytes) : std::string(bytes));
  }
  const std::size_t formats = body.take_16();
  made.is_binary = formats > 0 && body.take_16() == 1;
  portals_.insert_or_assign(portal, std::move(made));
  write('2', {});
}

void FakeSession::describe(ByteReader body) {
  const bool is_statement = body.take_8() == 'S';
  const std::string name(body.take_text());
  const Statement* found = nullptr;
  if (is_statement) {
    const auto place = statements_.find(name);
    if (place != statements_.end()) found = &place->second;
  } else if (const auto place = portals_.find(name); place != portals_.end()) {
    found = &place->second.statement;
  }
  if (found == nullptr) return fail("26000", "the statement does not exist");
  if (found->answer == nullptr) {
    return fail(
        "42601",
        "FakePostgres has no answer for this statement: give it one by answer(): " + found->text);
  }
  if (is_statement) {
    // A parameter that the answer does not name is text.
    std::size_t count = found->answer->parameters.size();
    for (std::size_t at = found->text.find('$'); at != std::string::npos;
         at = found->text.find('$', at + 1)) {
      std::size_t index = 0;
      while (++at < found->text.size() && std::isdigit(found->text[at]) != 0) {
        index = index * 10 + static_cast<std::size_t>(found->text[at] - '0');
      }
      count = std::max(count, index);
    }
    std::string types = in_network_order(static_cast<std::uint32_t>(count), 2);
    for (std::size_t index = 0; index < count; ++index) {
      const bool is_named = index < found->answer->parameters.size();
      const PgType type = is_named ? found->answer->parameters[index] : PgType::text;
      types += in_network_order(static_cast<std::uint32_t>(type), 4);
    }
    write('t', types);
  }
  write_columns(*found);
}

void FakeSession::write_columns(const Statement& statement) {
  const std::vector<FakeColumn>& columns = statement.answer->columns;
  if (columns.empty()) return write('n', {});
  std::string body = in_network_order(static_cast<std::uint32_t>(columns.size()), 2);
  for (const FakeColumn& each : columns) body += column_of(each.name, each.type, false);
  write('T', body);
}

// A statement without parameters, whose values are texts.
void FakeSession::query(Bytes text) {
  Portal portal;
  portal.statement = {.text = in_one_line(text), .answer = script_.find(text)};
  if (portal.statement.answer != nullptr) {
    write_columns(portal.statement);
  } else if (!portal.statement.text.starts_with("SET")) {
    write('T', in_network_order(1, 2) + column_of("answer", PgType::text, false));
  }
  execute(portal);
  sync();
}

// ---- the end of what a client asked for

void FakeSession::sync() {
  if (status_ == 'I') apply_effects();  // none are left of a group that failed
  skips_ = false;
  write_ready();
  flush();
}

void FakeSession::apply_effects() {
  for (const auto& effect : std::exchange(effects_, {})) effect();
  savepoints_.clear();
}

void FakeSession::fail(const std::string& sqlstate, const std::string& message) {
  write('E', zero_ended("SERROR") + zero_ended("VERROR") + zero_ended("C" + sqlstate) +
                 zero_ended("M" + message) + '\0');
  skips_ = true;
  if (status_ == 'T') status_ = 'E';
  if (status_ == 'I') effects_.clear();
}

void FakeSession::write_ready() { write('Z', std::string(1, status_)); }

void FakeSession::write_setting(Bytes name, Bytes value) {
  write('S', zero_ended(name) + zero_ended(value));
}

void FakeSession::complete(const std::string& tag) { write('C', zero_ended(tag)); }

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
