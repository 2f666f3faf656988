// Refusal: why a connection to a PostgreSQL server cannot go on. Where the next message begins, or
// what it answers, cannot be known after it.
//
// The number of a refusal stays the same in later versions. 1 to 29 are violations of the protocol,
// from 40 on policies that the server or somebody on the way to it does not meet.
#pragma once

#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::postgres {

enum class Refusal : std::uint8_t {
  none = 0,                 // nothing is refused
  unknown_message = 1,      // often no PostgreSQL at the other end
  bad_length = 2,           // less than a header, or not that of the type
  message_too_large = 3,    // Limits
  unexpected_message = 4,   // the tables of states.hpp do not have it
  bad_text = 5,             // without its zero byte, or with bytes behind it
  bad_description = 6,      // RowDescription, ParameterDescription
  bad_row = 7,              // DataRow
  wrong_columns = 8,        // DataRow
  too_many_rows = 9,        // for the limit of an Execute
  bad_tag = 10,             // CommandComplete
  bad_report = 11,          // ErrorResponse, NoticeResponse
  bad_transaction = 12,     // ReadyForQuery
  bad_copy = 13,            // CopyInResponse, CopyOutResponse
  bad_cancel_key = 14,      // BackendKeyData
  bad_setting = 15,         // ParameterStatus
  bad_notification = 16,    // NotificationResponse
  bad_negotiation = 17,     // NegotiateProtocolVersion
  bad_authentication = 18,  // Authentication*
  bad_scram = 19,           // a message of SCRAM
  start_too_long = 20,      // Limits::start_messages_max
  copy_in_pipeline = 21,    // the caller's fault: requests stand behind a COPY FROM STDIN

  bytes_before_tls = 40,         // CVE-2021-23222: somebody injects bytes
  encryption_refused = 41,       // the answer N to SSLRequest
  bad_encryption_answer = 42,    // neither S nor N
  wrong_alpn = 43,               // TLS without PostgreSQL's protocol name
  version_too_old = 44,          // less than StartupOptions::version_min
  method_not_allowed = 45,       // Methods
  unknown_method = 46,           // of authentication
  not_authenticated = 47,        // AuthenticationOk without what is allowed before it
  channel_binding_missing = 48,  // required, and not offered
  plus_without_tls = 49,         // SCRAM-SHA-256-PLUS
  foreign_nonce = 50,            // the server's does not begin with ours
  too_few_iterations = 51,       // Limits
  too_many_iterations = 52,      // Limits
  wrong_signature = 53,          // the server does not know the password
  scram_error = 54,              // e=
};

// The reason in words, for an error message: what the server, or the caller, did wrong.
Bytes text_of(Refusal refusal) noexcept;

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
