// States of a start, and every transition between them.
//
// Startup moves by this table and by nothing else. A cause that the table does not have in a state
// ends the start. startup_test draws docs/diagrams/postgres.md from it, and compares the two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::postgres {

// Where a start is.
enum class StartState : std::uint8_t {
  idle,           // begin() was not called
  asking,         // SSLRequest is sent
  handshake,      // the caller makes TLS
  greeted,        // the startup message is sent
  negotiated,     // likewise, and the server has named an older version
  password,       // the caller is to give a password
  password_sent,  // the server judges it
  challenged,     // SCRAM: the first message is sent
  proving,        // SCRAM: the caller is to give keys
  proven,         // SCRAM: the proof is sent
  verified,       // SCRAM: the server has proved that it knows the password
  authenticated,  // settings follow
  keyed,          // likewise, behind the cancel key
  ready,          // a Machine takes over
  ended,          // refused, or the server has sent an error
};

// The causes of a transition.
enum class StartCause : std::uint8_t {
  ask_tls,       // begin() with TLS by SSLRequest
  begin_tls,     // begin() with direct TLS
  greet,         // begin() without TLS
  accept_tls,    // the server's S
  encrypted,     // the caller has made TLS
  version,       // NegotiateProtocolVersion
  ask_password,  // AuthenticationCleartextPassword, AuthenticationMD5Password
  password,      // the caller has given it
  ask_scram,     // AuthenticationSASL
  challenge,     // AuthenticationSASLContinue
  proof,         // the caller has given keys
  signature,     // AuthenticationSASLFinal
  skip,          // AuthenticationOk without a request before it, where that is allowed
  accept,        // AuthenticationOk
  setting,       // ParameterStatus
  notice,        // NoticeResponse
  key,           // BackendKeyData
  ready,         // ReadyForQuery
  error,         // ErrorResponse
};

// The number of states, for tables.
inline constexpr std::size_t start_state_count = 15;
// The number of causes, for tables.
inline constexpr std::size_t start_cause_count = 19;

// Names for the diagram, by StartState.
inline constexpr std::array<Bytes, start_state_count> start_state_names = {
    "idle",     "asking",        "handshake",  "greeted", "negotiated",
    "password", "password_sent", "challenged", "proving", "proven",
    "verified", "authenticated", "keyed",      "ready",   "ended"};
// Names for the diagram, by StartCause.
inline constexpr std::array<Bytes, start_cause_count> start_cause_names = {
    "begin with SSLRequest",
    "begin with direct TLS",
    "begin without TLS",
    "S",
    "TLS is made",
    "NegotiateProtocolVersion",
    "AuthenticationCleartextPassword, AuthenticationMD5Password",
    "password given",
    "AuthenticationSASL",
    "AuthenticationSASLContinue",
    "keys given",
    "AuthenticationSASLFinal",
    "AuthenticationOk, if no authentication is allowed",
    "AuthenticationOk",
    "ParameterStatus",
    "NoticeResponse",
    "BackendKeyData",
    "ReadyForQuery",
    "ErrorResponse"};

// One allowed move.
struct StartTransition {
  // The state before.
  StartState from;
  // The cause of the change.
  StartCause cause;
  // The state after.
  StartState to;
};

// Every allowed move.
inline constexpr std::array<StartTransition, 35> start_transitions = {{
    {StartState::idle, StartCause::ask_tls, StartState::asking},
    {StartState::idle, StartCause::begin_tls, StartState::handshake},
    {StartState::idle, StartCause::greet, StartState::greeted},
    {StartState::asking, StartCause::accept_tls, StartState::handshake},
    {StartState::handshake, StartCause::encrypted, StartState::greeted},
    {StartState::greeted, StartCause::version, StartState::negotiated},
    {StartState::greeted, StartCause::ask_password, StartState::password},
    {StartState::greeted, StartCause::ask_scram, StartState::challenged},
    {StartState::greeted, StartCause::skip, StartState::authenticated},
    {StartState::greeted, StartCause::error, StartState::ended},
    {StartState::negotiated, StartCause::ask_password, StartState::password},
    {StartState::negotiated, StartCause::ask_scram, StartState::challenged},
    {StartState::negotiated, StartCause::skip, StartState::authenticated},
    {StartState::negotiated, StartCause::error, StartState::ended},
    {StartState::password, StartCause::password, StartState::password_sent},
    {StartState::password, StartCause::error, StartState::ended},
    {StartState::password_sent, StartCause::accept, StartState::authenticated},
    {StartState::password_sent, StartCause::error, StartState::ended},
    {StartState::challenged, StartCause::challenge, StartState::proving},
    {StartState::challenged, StartCause::error, StartState::ended},
    {StartState::proving, StartCause::proof, StartState::proven},
    {StartState::proving, StartCause::error, StartState::ended},
    {StartState::proven, StartCause::signature, StartState::verified},
    {StartState::proven, StartCause::error, StartState::ended},
    {StartState::verified, StartCause::accept, StartState::authenticated},
    {StartState::verified, StartCause::error, StartState::ended},
    {StartState::authenticated, StartCause::setting, StartState::authenticated},
    {StartState::authenticated, StartCause::notice, StartState::authenticated},
    {StartState::authenticated, StartCause::key, StartState::keyed},
    {StartState::authenticated, StartCause::ready, StartState::ready},
    {StartState::authenticated, StartCause::error, StartState::ended},
    {StartState::keyed, StartCause::setting, StartState::keyed},
    {StartState::keyed, StartCause::notice, StartState::keyed},
    {StartState::keyed, StartCause::ready, StartState::ready},
    {StartState::keyed, StartCause::error, StartState::ended},
}};

namespace detail {
// [from][cause]; `idle` where no move is allowed, because no move leads there.
inline constexpr auto start_matrix = [] {
  std::array<std::array<StartState, start_cause_count>, start_state_count> made{};
  for (const auto& [from, cause, to] : start_transitions) {
    made[static_cast<std::size_t>(from)][static_cast<std::size_t>(cause)] = to;
  }
  return made;
}();
}  // namespace detail

// The state behind a cause; `idle`: the cause is not allowed there.
constexpr StartState state_after(StartState from, StartCause cause) noexcept {
  return detail::start_matrix[static_cast<std::size_t>(from)][static_cast<std::size_t>(cause)];
}

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
