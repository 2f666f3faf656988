// Requests: the messages of a client, checked and written whole.
//
// A text of a message ends with a zero byte. A text that has one within would end early, and what
// stands behind it would be read as other parts of the message. Such a text is refused.
//
// Borrows    every text and value, for the call.
// Thread     any.
// Allocates  never.
// Fails      with a Submitted other than `ok`; nothing is written then.
// Invariant  a message has exactly the length that it says.
// Source     PostgreSQL 18, "Message Formats"
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/postgres/messages.hpp"
#include "katana/wire/postgres/output.hpp"

namespace katana::postgres {

// The result of a request. Only `ok` has written something.
enum class Submitted : std::uint8_t {
  ok,             // it is written
  no_room,        // in the output: try again once some of it is sent
  queue_full,     // of the machine: wait for replies
  zero_byte,      // within a text
  name_too_long,  // name_bytes_max: a server would take another statement's name for it
  too_large,      // request_bytes_max, values_max, startup_bytes_max
  sync_missing,   // a simple query stands behind requests without a Sync
  copying,        // COPY FROM STDIN goes on: only its data may be sent
  not_copying,    // no COPY FROM STDIN goes on
  password_form,  // SASLprep may change the password: give its normalized form (password_form.hpp)
  wrong_state,    // the machine does not wait for this call, or the connection has ended
};

// A statement to be prepared. An empty name is that of the unnamed statement.
struct Parse {
  // The name of the statement; empty: the unnamed one.
  Bytes name = {};
  // One statement, with $1, $2, … for its parameters.
  Bytes sql = {};
  std::span<const std::uint32_t> types = {};  // OIDs of parameters; 0 or missing: inferred
};

// A portal: a statement with values. An empty name is that of the unnamed portal.
struct Bind {
  // The name of the portal; empty: the unnamed one.
  Bytes portal = {};
  // The name of the prepared statement; empty: the unnamed one.
  Bytes statement = {};
  // The values of the parameters, in their order.
  std::span<const Value> values = {};
  // None: all are text. One: all have it. Otherwise one for each value or column.
  std::span<const Format> formats = {};
  std::span<const Format> result_formats = {};
};

// A prepared statement or a portal, for Describe and Close.
enum class Kind : char { statement = 'S', portal = 'P' };

// Query: one or more statements without parameters.
Submitted write_query(Bytes sql, const Output& output) noexcept;
// Parse: prepares a statement.
Submitted write_parse(const Parse& parse, const Output& output) noexcept;
// Bind: makes a portal of a prepared statement.
Submitted write_bind(const Bind& bind, const Output& output) noexcept;
// Describe, for a statement or a portal.
Submitted write_describe(Kind kind, Bytes name, const Output& output) noexcept;
// Close, for a statement or a portal.
Submitted write_close(Kind kind, Bytes name, const Output& output) noexcept;
// `rows_max` 0: all rows.
Submitted write_execute(Bytes portal, std::uint32_t rows_max, const Output& output) noexcept;
Submitted write_sync(const Output& output) noexcept;
Submitted write_flush(const Output& output) noexcept;
// Ends the connection in order.
Submitted write_terminate(const Output& output) noexcept;

// The data of COPY FROM STDIN, its end, and its end by an error.
Submitted write_copy_data(Bytes data, const Output& output) noexcept;
Submitted write_copy_done(const Output& output) noexcept;
Submitted write_copy_fail(Bytes why, const Output& output) noexcept;

// Cancels what the session of this key runs. It is the only message of a new connection, which the
// server then closes without an answer.
Submitted write_cancel(const BackendKey& key, const Output& output) noexcept;

// The answer to a request for authentication: a password, or a message of SASL.
Submitted write_password(Bytes password, const Output& output) noexcept;
Submitted write_sasl_initial(Bytes mechanism, Bytes message, const Output& output) noexcept;
Submitted write_sasl(Bytes message, const Output& output) noexcept;

// The first message of a session.
struct StartupParameter {
  // The name, as in "application_name".
  Bytes name;
  // The value.
  Bytes value;
};
// Version 3.0, of all servers since PostgreSQL 7.4.
inline constexpr std::uint32_t version_3_0 = 0x0003'0000;
// Version 3.2, of servers since PostgreSQL 18.
inline constexpr std::uint32_t version_3_2 = 0x0003'0002;
// StartupMessage.
Submitted write_startup(std::uint32_t version, std::span<const StartupParameter> parameters,
                        const Output& output) noexcept;

// Asks whether the server takes TLS or GSSAPI on this connection. It answers with one byte.
enum class Encryption : std::uint8_t { tls, gss };
// SSLRequest or GSSENCRequest.
Submitted write_encryption_request(Encryption encryption, const Output& output) noexcept;

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
