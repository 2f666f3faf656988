#include "katana/wire/postgres/startup.hpp"

#include <algorithm>

#include "katana/base/system/check.hpp"
#include "katana/wire/postgres/md5.hpp"
#include "katana/wire/postgres/messages.hpp"
#include "katana/wire/postgres/password_form.hpp"

namespace katana::postgres {
namespace {

// The codes of Authentication messages.
enum : std::uint32_t {
  code_ok = 0,
  code_cleartext = 3,
  code_md5 = 5,
  code_sasl = 10,
  code_sasl_continue = 11,
  code_sasl_final = 12,
};
// The number of parameters that options may add to user and database.
constexpr std::size_t parameters_max = 30;

constexpr std::uint32_t version_3_1 = 0x0003'0001;  // reserved: no server speaks it

struct Mechanisms {
  bool has_scram = false;
  bool has_plus = false;
  bool is_well_formed = false;
};

// Names that each end with a zero byte; an empty one ends the list.
Mechanisms read_mechanisms(Bytes list) noexcept {
  Mechanisms made;
  ByteReader reader(list);
  for (Bytes name = reader.take_text(); !name.empty(); name = reader.take_text()) {
    made.has_scram |= name == scram_sha_256;
    made.has_plus |= name == scram_sha_256_plus;
  }
  made.is_well_formed = reader.is_at_end();
  return made;
}

struct Choice {
  Refusal refusal = Refusal::none;
  BindingFlag flag = BindingFlag::unsupported;
};

// RFC 5802 §6; PostgreSQL 18, "SASL Authentication".
Choice choose(const Mechanisms& offered, const StartupOptions& options, bool has_end_point) {
  if (!offered.has_scram && !offered.has_plus) return {.refusal = Refusal::unknown_method};
  if (!options.methods.scram) return {.refusal = Refusal::method_not_allowed};
  if (offered.has_plus && options.tls == TlsStart::off) {
    return {.refusal = Refusal::plus_without_tls};
  }
  const bool can_bind = has_end_point && options.binding != ChannelBinding::off;
  if (can_bind && offered.has_plus) return {.flag = BindingFlag::bound};
  if (options.binding == ChannelBinding::required) {
    return {.refusal = Refusal::channel_binding_missing};
  }
  if (!offered.has_scram) return {.refusal = Refusal::method_not_allowed};
  return {.flag = can_bind ? BindingFlag::not_offered : BindingFlag::unsupported};
}

}  // namespace

std::optional<EncryptionAnswer> read_encryption_answer(Encryption asked, Bytes input) noexcept {
  if (input.empty()) return std::nullopt;
  const char yes = asked == Encryption::tls ? 'S' : 'G';
  if (input.front() != yes && input.front() != 'N') {
    return EncryptionAnswer{.refusal = Refusal::bad_encryption_answer};
  }
  // A server says nothing more before the handshake, or before the startup message.
  if (input.size() > 1) return EncryptionAnswer{.refusal = Refusal::bytes_before_tls};
  return EncryptionAnswer{.is_accepted = input.front() == yes};
}

Startup::Startup(const StartupOptions& options, Bytes nonce, const Limits& limits) noexcept
    : options_(options), limits_(limits), version_(options.version) {
  KATANA_REQUIRE(nonce.size() == nonce_.size());
  KATANA_REQUIRE(options.version == version_3_0 || options.version == version_3_2);
  KATANA_REQUIRE(options.version_min <= options.version);
  std::ranges::copy(nonce, nonce_.begin());
}

Submitted Startup::begin(const Output& output) noexcept {
  if (state_ != StartState::idle) return Submitted::wrong_state;
  if (options_.tls == TlsStart::off) return greet(StartCause::greet, output);
  if (options_.tls == TlsStart::direct) {
    state_ = state_after(state_, StartCause::begin_tls);
    return Submitted::ok;
  }
  const Submitted submitted = write_encryption_request(Encryption::tls, output);
  if (submitted == Submitted::ok) state_ = state_after(state_, StartCause::ask_tls);
  return submitted;
}

Submitted Startup::encrypted(const TlsFacts& facts, const Output& output) noexcept {
  KATANA_REQUIRE(facts.server_end_point.size() <= end_point_.size());
  if (state_ != StartState::handshake) return Submitted::wrong_state;
  // A server of another protocol at the same address has another name, or none (ALPACA). Servers
  // before 17 do not know names, and ask for TLS by SSLRequest.
  const bool may_lack = options_.tls == TlsStart::request && facts.alpn.empty();
  if (facts.alpn != alpn_name && !may_lack) {
    refuse(Refusal::wrong_alpn);
    return Submitted::wrong_state;
  }
  std::ranges::copy(facts.server_end_point, end_point_.begin());
  end_point_size_ = facts.server_end_point.size();
  return greet(StartCause::encrypted, output);
}

Submitted Startup::greet(StartCause cause, const Output& output) noexcept {
  std::array<StartupParameter, parameters_max + 2> all;
  std::size_t count = 0;
  if (options_.parameters.size() > parameters_max) return Submitted::too_large;
  all[count++] = {"user", options_.user};
  if (!options_.database.empty()) all[count++] = {"database", options_.database};
  for (const StartupParameter& parameter : options_.parameters) all[count++] = parameter;
  const Submitted submitted = write_startup(version_, {all.data(), count}, output);
  if (submitted == Submitted::ok) state_ = state_after(state_, cause);
  return submitted;
}

StartStep Startup::refuse(Refusal why) noexcept {
  state_ = StartState::ended;
  refusal_ = why;
  return {.event = StartEvent::refused};
}

StartStep Startup::move(StartCause cause, StartEvent event, const Frame& frame) noexcept {
  const StartState to = state_after(state_, cause);
  if (to == StartState::idle) return refuse(Refusal::unexpected_message);
  state_ = to;
  return {.event = event, .consumed = frame.size, .body = frame.body};
}

StartStep Startup::next(Bytes input, const Output& output) noexcept {
  switch (state_) {
    case StartState::asking: return read_tls_answer(input);
    case StartState::handshake: return {.event = StartEvent::encrypt};
    case StartState::idle:
    case StartState::ready: return {};
    case StartState::ended: return {.event = StartEvent::refused};
    default: break;
  }
  const Frame frame = read_frame(input, limits_);
  if (frame.refusal != Refusal::none) return refuse(frame.refusal);
  if (frame.type == Reply::count_) return {.size = frame.size};
  if (const Refusal why = check(frame.type, frame.body); why != Refusal::none) return refuse(why);
  switch (frame.type) {
    case Reply::authentication: return on_authentication(frame, output);
    case Reply::negotiate_version: return on_version(frame);
    case Reply::error: return move(StartCause::error, StartEvent::error, frame);
    default: return on_session(frame);
  }
}

StartStep Startup::read_tls_answer(Bytes input) noexcept {
  const auto answer = read_encryption_answer(Encryption::tls, input);
  if (!answer) return {.size = 1};
  if (answer->refusal != Refusal::none) return refuse(answer->refusal);
  if (!answer->is_accepted) return refuse(Refusal::encryption_refused);
  state_ = state_after(state_, StartCause::accept_tls);
  return {.event = StartEvent::encrypt, .consumed = 1};
}

StartStep Startup::on_authentication(const Frame& frame, const Output& output) noexcept {
  ByteReader reader(frame.body);
  const std::uint32_t code = reader.take_32();
  const Bytes rest = reader.rest();
  switch (code) {
    case code_ok: return on_accepted(frame);
    case code_cleartext: return on_password(frame, Request::cleartext, options_.methods.cleartext);
    case code_md5: return on_password(frame, Request::md5, options_.methods.md5);
    case code_sasl: return on_sasl(frame, rest, output);
    case code_sasl_continue: return on_challenge(frame, rest);
    case code_sasl_final: return on_signature(frame, rest);
    default: return refuse(Refusal::unknown_method);
  }
}

StartStep Startup::on_accepted(const Frame& frame) noexcept {
  if (frame.body.size() != 4) return refuse(Refusal::bad_authentication);
  const bool was_asked = state_after(state_, StartCause::accept) != StartState::idle;
  if (was_asked) return move(StartCause::accept, StartEvent::authenticated, frame);
  const bool may_skip = options_.methods.nothing && options_.binding != ChannelBinding::required;
  const bool can_skip = state_after(state_, StartCause::skip) != StartState::idle;
  if (!may_skip || !can_skip) return refuse(Refusal::not_authenticated);
  return move(StartCause::skip, StartEvent::authenticated, frame);
}

StartStep Startup::on_password(const Frame& frame, Request request, bool is_allowed) noexcept {
  const std::size_t salt_bytes = request == Request::md5 ? md5_salt_.size() : 0;
  if (frame.body.size() != 4 + salt_bytes) return refuse(Refusal::bad_authentication);
  if (!is_allowed) return refuse(Refusal::method_not_allowed);
  if (options_.binding == ChannelBinding::required) {
    return refuse(Refusal::channel_binding_missing);
  }
  request_ = request;
  std::ranges::copy(frame.body.substr(4), md5_salt_.begin());
  return move(StartCause::ask_password, StartEvent::password, frame);
}

StartStep Startup::on_sasl(const Frame& frame, Bytes list, const Output& output) noexcept {
  const Mechanisms offered = read_mechanisms(list);
  if (!offered.is_well_formed) return refuse(Refusal::bad_authentication);
  const Choice choice = choose(offered, options_, end_point_size_ > 0);
  if (choice.refusal != Refusal::none) return refuse(choice.refusal);
  if (state_after(state_, StartCause::ask_scram) == StartState::idle) {
    return refuse(Refusal::unexpected_message);
  }
  is_bound_ = choice.flag == BindingFlag::bound;
  scram_.emplace(Bytes(nonce_.data(), nonce_.size()), choice.flag, is_bound_ ? end_point() : "");
  std::array<char, scram_message_bytes_max> memory;
  const Bytes mechanism = is_bound_ ? scram_sha_256_plus : scram_sha_256;
  const Submitted submitted = write_sasl_initial(mechanism, scram_->write_first(memory), output);
  if (submitted != Submitted::ok) return {.event = StartEvent::no_room};
  return move(StartCause::ask_scram, StartEvent::scram, frame);
}

StartStep Startup::on_challenge(const Frame& frame, Bytes message) noexcept {
  if (state_after(state_, StartCause::challenge) == StartState::idle) {
    return refuse(Refusal::unexpected_message);
  }
  const Refusal why = scram_->read_challenge(message, limits_);
  if (why != Refusal::none) return refuse(why);
  return move(StartCause::challenge, StartEvent::proof, frame);
}

StartStep Startup::on_signature(const Frame& frame, Bytes message) noexcept {
  if (state_after(state_, StartCause::signature) == StartState::idle) {
    return refuse(Refusal::unexpected_message);
  }
  const Refusal why = scram_->verify(message);
  if (why != Refusal::none) return refuse(why);
  return move(StartCause::signature, StartEvent::verified, frame);
}

StartStep Startup::on_version(const Frame& frame) noexcept {
  ByteReader reader(frame.body);
  const std::uint32_t version = reader.take_32();
  const std::uint32_t options = reader.take_32();
  // This client asks for no option, and so none can be unknown to the server.
  const bool is_older = version >= version_3_0 && version < version_ && version != version_3_1;
  if (!is_older || options != 0 || !reader.is_at_end()) return refuse(Refusal::bad_negotiation);
  if (version < options_.version_min) return refuse(Refusal::version_too_old);
  const StartStep step = move(StartCause::version, StartEvent::version, frame);
  if (step.event == StartEvent::version) version_ = version;
  return step;
}

// The messages between AuthenticationOk and ReadyForQuery.
StartStep Startup::on_session(const Frame& frame) noexcept {
  if (frame.type == Reply::ready) {
    if (transaction_of(frame.body) != Transaction::idle) return refuse(Refusal::bad_transaction);
    return move(StartCause::ready, StartEvent::ready, frame);
  }
  if (messages_++ == limits_.start_messages_max) return refuse(Refusal::start_too_long);
  switch (frame.type) {
    case Reply::parameter_status: return move(StartCause::setting, StartEvent::setting, frame);
    case Reply::notice: return move(StartCause::notice, StartEvent::notice, frame);
    case Reply::backend_key: {
      const bool is_short = frame.body.size() == 8;
      if (!is_short && version_ < version_3_2) return refuse(Refusal::bad_cancel_key);
      return move(StartCause::key, StartEvent::key, frame);
    }
    default: return refuse(Refusal::unexpected_message);
  }
}

Submitted Startup::prove(const ScramKeys& keys, const Output& output) noexcept {
  if (state_ != StartState::proving) return Submitted::wrong_state;
  std::array<char, scram_message_bytes_max> memory;
  const Submitted submitted = write_sasl(scram_->write_proof(keys, memory), output);
  if (submitted == Submitted::ok) state_ = state_after(state_, StartCause::proof);
  return submitted;
}

Submitted Startup::answer(Bytes password, const Output& output) noexcept {
  if (state_ == StartState::proving) {
    if (!is_prepared_password(password)) return Submitted::password_form;
    return prove(derive_scram_keys(password, challenge()), output);
  }
  if (state_ != StartState::password) return Submitted::wrong_state;
  Submitted submitted = Submitted::ok;
  if (request_ == Request::md5) {
    const Bytes salt(md5_salt_.data(), md5_salt_.size());
    const Md5Answer made = md5_answer(options_.user, password, salt);
    submitted = write_password({made.data(), made.size()}, output);
  } else {
    submitted = write_password(password, output);
  }
  if (submitted == Submitted::ok) state_ = state_after(state_, StartCause::password);
  return submitted;
}

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
