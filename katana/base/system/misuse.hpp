// Misuse: a call in a forbidden place, such as a blocking wait on a reactor, or an await on a
// thread without one. The sentence names the mistake, the route, the thread, and the remedy.
//
// throw_misuse()  for places where an exception reaches the responsible code. An exception of a
//                 handler is answered with 500 and recorded with its route; the process goes on.
// die_of_misuse() for all other places. Prints the sentence on standard error and aborts. That
//                 flushes the log if log::flush_on_crash() is installed, as Application does.
//
// Thread     any.
// Allocates  the sentence.
// Fails      as described above.
#pragma once

#include <string>

#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana {

// The place of the calling thread: " (on route GET /users/{id}, request 01J…, thread work/0)".
std::string describe_thread();

// Throws std::logic_error with the sentence.
[[noreturn]] KATANA_RARE void throw_misuse(Bytes what, Bytes remedy);
[[noreturn]] KATANA_RARE void die_of_misuse(Bytes what, Bytes remedy) noexcept;
// "what (on route …): remedy"
std::string misuse_sentence(Bytes what, Bytes remedy);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
