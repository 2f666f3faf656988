// States of a stream as its client sees it (RFC 9113 §5.1), and every transition between them.
//
// ClientMachine moves streams by this table and by nothing else. client_machine_test draws
// docs/diagrams/http2_client.md from it and compares the two. It draws the diagram anew when
// KATANA_UPDATE is set. Nothing may be pushed: the reserved states of the RFC do not occur.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http2/transitions.hpp"

namespace katana::http2 {

// Where a stream stands.
enum class ClientStreamState : std::uint8_t {
  idle,      // its request has not begun
  open,      // the request's content is still to be sent, and its reply is not complete
  waiting,   // the request is sent, its reply is not complete: half-closed (local)
  answered,  // the reply is complete, the request's content is not: half-closed (remote)
  closed,    // nothing more is sent or read
};

// The causes of a transition from one state to the next.
enum class ClientStreamCause : std::uint8_t {
  head,          // the head of a request with content
  request,       // the head of a request without content
  request_ends,  // the last of the content
  reply_ends,    // END_STREAM came
  peer_reset,    // RST_STREAM came
  own_reset,     // a malformed reply, a limit, a caller that waits no longer
  unprocessed,   // the server goes away, and did nothing about it
};

// One allowed move.
using ClientStreamTransition = Transition<ClientStreamState, ClientStreamCause>;

// Names by ClientStreamState, for the diagram.
inline constexpr std::array<Bytes, 5> client_stream_state_names = {"idle", "open", "waiting",
                                                                   "answered", "closed"};
// Names by ClientStreamCause, for the diagram.
inline constexpr std::array<Bytes, 7> client_stream_cause_names = {
    "head, content follows", "head, request complete", "request complete", "reply complete",
    "reset by the server",   "reset by the client",    "not processed"};

// Every allowed move.
inline constexpr std::array<ClientStreamTransition, 14> client_stream_transitions = {{
    {ClientStreamState::idle, ClientStreamCause::head, ClientStreamState::open},
    {ClientStreamState::idle, ClientStreamCause::request, ClientStreamState::waiting},
    {ClientStreamState::open, ClientStreamCause::request_ends, ClientStreamState::waiting},
    {ClientStreamState::open, ClientStreamCause::reply_ends, ClientStreamState::answered},
    {ClientStreamState::open, ClientStreamCause::peer_reset, ClientStreamState::closed},
    {ClientStreamState::open, ClientStreamCause::own_reset, ClientStreamState::closed},
    {ClientStreamState::open, ClientStreamCause::unprocessed, ClientStreamState::closed},
    {ClientStreamState::waiting, ClientStreamCause::reply_ends, ClientStreamState::closed},
    {ClientStreamState::waiting, ClientStreamCause::peer_reset, ClientStreamState::closed},
    {ClientStreamState::waiting, ClientStreamCause::own_reset, ClientStreamState::closed},
    {ClientStreamState::waiting, ClientStreamCause::unprocessed, ClientStreamState::closed},
    {ClientStreamState::answered, ClientStreamCause::request_ends, ClientStreamState::closed},
    {ClientStreamState::answered, ClientStreamCause::peer_reset, ClientStreamState::closed},
    {ClientStreamState::answered, ClientStreamCause::own_reset, ClientStreamState::closed},
}};

namespace detail {
inline constexpr auto client_stream_matrix =
    make_matrix<client_stream_state_names.size(), client_stream_cause_names.size()>(
        client_stream_transitions);
}  // namespace detail

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
