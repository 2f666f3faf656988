#include "katana/wire/postgres/refusal.hpp"

namespace katana::postgres {

Bytes text_of(Refusal refusal) noexcept {
  switch (refusal) {
    case Refusal::none: return "nothing is refused";
    case Refusal::unknown_message: return "the server sent a message of an unknown type";
    case Refusal::bad_length: return "the length of a message is not one of its type";
    case Refusal::message_too_large: return "a message is larger than the client's limit";
    case Refusal::unexpected_message: return "the server sent a message that answers no request";
    case Refusal::bad_text: return "a text in a message does not end with a zero byte";
    case Refusal::bad_description: return "a description of columns or parameters is malformed";
    case Refusal::bad_row: return "the values of a row do not fill its message";
    case Refusal::wrong_columns: return "a row does not have the described number of columns";
    case Refusal::too_many_rows: return "the server sent more rows than the Execute allows";
    case Refusal::bad_tag: return "the tag of a completed command is malformed";
    case Refusal::bad_report: return "an error or a notice is malformed";
    case Refusal::bad_transaction: return "the state of the transaction is not I, T or E";
    case Refusal::bad_copy: return "the formats of a COPY are malformed";
    case Refusal::bad_cancel_key: return "the cancel key does not have a size of this protocol";
    case Refusal::bad_setting: return "a setting of the server is malformed";
    case Refusal::bad_notification: return "a notification is malformed";
    case Refusal::bad_negotiation: return "the server negotiates a version that cannot be one";
    case Refusal::bad_authentication: return "a request for authentication is malformed";
    case Refusal::bad_scram: return "a message of SCRAM is malformed, or has an unknown extension";
    case Refusal::start_too_long: return "the server sent too many messages before it was ready";
    case Refusal::copy_in_pipeline: return "requests were sent behind a COPY FROM STDIN";
    case Refusal::bytes_before_tls: return "bytes came unencrypted before TLS began";
    case Refusal::encryption_refused: return "the server refuses TLS, which is required";
    case Refusal::bad_encryption_answer: return "the server did not answer S or N to SSLRequest";
    case Refusal::wrong_alpn: return "TLS did not agree on the protocol name 'postgresql'";
    case Refusal::version_too_old:
      return "the server's protocol is older than the required version";
    case Refusal::method_not_allowed: return "the server asks for a method that is not allowed";
    case Refusal::unknown_method: return "the server asks for an unknown authentication method";
    case Refusal::not_authenticated: return "the server skipped the required authentication";
    case Refusal::channel_binding_missing: return "channel binding is required and not offered";
    case Refusal::plus_without_tls: return "the server offers channel binding without TLS";
    case Refusal::foreign_nonce: return "the server's nonce does not begin with the client's";
    case Refusal::too_few_iterations: return "SCRAM has fewer iterations than the client's limit";
    case Refusal::too_many_iterations: return "SCRAM has more iterations than the client's limit";
    case Refusal::wrong_signature: return "the server could not prove that it knows the password";
    case Refusal::scram_error: return "the server ended SCRAM with an error";
  }
  return "unknown";
}

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
