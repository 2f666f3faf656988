// The names of the signals of a crash, and of their codes (sigaction(2)). strsignal() is not safe
// in a signal handler.
//
// Thread     any; safe in a signal handler.
// Allocates  never.
#pragma once

#include "katana/base/text/bytes.hpp"

namespace katana::crash {

Bytes signal_name(int signal) noexcept;          // "SIGSEGV"; "-" for other signals
Bytes code_name(int signal, int code) noexcept;  // "SEGV_MAPERR"; "-" for other codes

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
