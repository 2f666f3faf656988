// States of a stream as its server sees it (RFC 9113 §5.1), and every transition between them.
//
// Machine moves streams by this table and by nothing else. machine_test draws
// docs/diagrams/http2.md from it and compares the two. It draws the diagram anew when
// KATANA_UPDATE is set. Nothing is pushed here: the reserved states of the RFC do not occur. A
// stream that was not opened has no object.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http2/transitions.hpp"

namespace katana::http2 {

// Where a stream stands.
enum class StreamState : std::uint8_t {
  idle,      // its head has not come
  open,      // the request's content is still coming, and its reply is not complete
  replying,  // the request is complete, its reply is not: half-closed (remote)
  replied,   // the reply is complete, unwanted content is read past: half-closed (local)
  closed,    // nothing more is sent or read
};

// The causes of a transition from one state to the next.
enum class StreamCause : std::uint8_t {
  head,          // the head of a request with content
  request,       // the head of a request without content
  request_ends,  // the last of the content, or trailers
  reply_ends,    // END_STREAM was sent
  peer_reset,    // RST_STREAM came
  own_reset,  // a malformed request, a handler that failed, a limit, the rest of a replied request
};

// One allowed move.
using StreamTransition = Transition<StreamState, StreamCause>;

// Names by StreamState, for the diagram.
inline constexpr std::array<Bytes, 5> stream_state_names = {"idle", "open", "replying", "replied",
                                                            "closed"};
// Names by StreamCause, for the diagram.
inline constexpr std::array<Bytes, 6> stream_cause_names = {
    "head, content follows", "head, request complete", "request complete",
    "reply complete",        "reset by the client",    "reset by the server"};

// Every allowed move.
inline constexpr std::array<StreamTransition, 13> stream_transitions = {{
    {StreamState::idle, StreamCause::head, StreamState::open},
    {StreamState::idle, StreamCause::request, StreamState::replying},
    {StreamState::idle, StreamCause::own_reset, StreamState::closed},
    {StreamState::open, StreamCause::request_ends, StreamState::replying},
    {StreamState::open, StreamCause::reply_ends, StreamState::replied},
    {StreamState::open, StreamCause::peer_reset, StreamState::closed},
    {StreamState::open, StreamCause::own_reset, StreamState::closed},
    {StreamState::replying, StreamCause::reply_ends, StreamState::closed},
    {StreamState::replying, StreamCause::peer_reset, StreamState::closed},
    {StreamState::replying, StreamCause::own_reset, StreamState::closed},
    {StreamState::replied, StreamCause::request_ends, StreamState::closed},
    {StreamState::replied, StreamCause::peer_reset, StreamState::closed},
    {StreamState::replied, StreamCause::own_reset, StreamState::closed},
}};

namespace detail {
inline constexpr auto stream_matrix =
    make_matrix<stream_state_names.size(), stream_cause_names.size()>(stream_transitions);
}  // namespace detail

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
