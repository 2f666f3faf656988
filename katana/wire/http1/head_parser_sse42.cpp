#if defined(__x86_64__)
#define KATANA_TARGET __attribute__((target("sse4.2")))
#include "katana/wire/http1/parse_whole.hpp"

namespace katana::http1 {

HeadResult parse_whole_sse42(const Limits& limits, Bytes input, http::Head& head, Framing& framing,
                             KnownHost& host) noexcept {
  return detail::parse_whole<Sse42Kernels>(limits, input, head, framing, host);
}

}  // namespace katana::http1
#endif

// SPDX-License-Identifier: Apache-2.0
