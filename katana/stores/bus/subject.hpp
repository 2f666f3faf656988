// Subject: the address of a message, tokens with dots between them: "rooms.lobby.said".
//
//   rooms.lobby.said    a subject; a token is any bytes but blanks, controls, '.', '*' and '>'
//   rooms.*.said        '*' stands for one token
//   rooms.>             '>' stands for one token or more, at the end
//   rooms.>.said        no pattern: '>' is not at the end
//
// Subjects that begin with '_' or '$' are those of the bus itself ("_INBOX.…", "$JS.…"). A wildcard
// at the beginning of a pattern does not match them.
//
// Names that users choose go through escape_token(), which makes one token of any bytes.
//
// Owns       nothing.
// Thread     any.
// Allocates  escape_token() and the Errors.
// Fails      check_subject() and check_pattern() with an Error that names the subject and what is
//            wrong with it.
// Invariant  a subject that is a pattern without wildcards matches itself alone.
#pragma once

#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::bus {

// The subjects of answers begin with this, on every bus and with every prefix.
inline constexpr Bytes inbox_prefix = "_INBOX.";
inline constexpr std::size_t subject_bytes_max = 512;  // of subjects and patterns
inline constexpr std::size_t subject_tokens_max = 32;  // bounds the depth of an index, too

// True when messages may be published to `text`.
bool is_subject(Bytes text) noexcept;
// True when subscribers may subscribe to `text`.
bool is_pattern(Bytes text) noexcept;
Result<void> check_subject(Bytes text);
Result<void> check_pattern(Bytes text);
// REQUIRES is_pattern(pattern) and is_subject(subject).
bool matches(Bytes pattern, Bytes subject) noexcept;

// One token that stands for `text`: bytes that a token may not have, and '%', become "%2E"; an
// empty text becomes "%". Different texts have different tokens.
std::string escape_token(Bytes text);
// Returns the text that escape_token() was given; an Error for a token that it never returns.
Result<std::string> unescape_token(Bytes token);

// True for subjects of the bus itself, which begin with '_' or '$'.
inline bool is_hidden(Bytes subject) noexcept {
  return subject.starts_with('_') || subject.starts_with('$');
}
// True for a pattern that matches no hidden subject.
inline bool begins_with_wildcard(Bytes pattern) noexcept {
  return pattern.starts_with('*') || pattern.starts_with('>');
}

// Takes the first token off `rest`, and the dot behind it.
inline Bytes next_token(Bytes& rest) noexcept {
  const std::size_t end = rest.find('.');
  const Bytes token = rest.substr(0, end);
  rest = end == Bytes::npos ? Bytes() : rest.substr(end + 1);
  return token;
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
