// Misuse: a call that its caller may not make there: a blocking wait on a reactor, an await on a
// thread without one. The sentence says what was done, on which route and thread, and what to do.
//
// throw_misuse()  where an exception reaches the responsible code: a handler's is answered with
//                 500 and recorded with its route; the process goes on.
// die_of_misuse() where none can: prints the sentence on standard error and aborts, which flushes
//                 the log where log::flush_on_crash() is installed, as Application does.
//
// Thread     any.
// Allocates  the sentence.
// Fails      as named.
#pragma once

#include <string>

#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana {

// " (on route GET /users/{id}, request 01J…, thread work/0)": where the calling thread is.
std::string describe_thread();

// Throws std::logic_error.
[[noreturn]] KATANA_RARE void throw_misuse(Bytes what, Bytes remedy);
[[noreturn]] KATANA_RARE void die_of_misuse(Bytes what, Bytes remedy) noexcept;
// "what (on route …): remedy"
std::string misuse_sentence(Bytes what, Bytes remedy);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
