#if defined(__x86_64__)
#define KATANA_TARGET __attribute__((target("avx2,bmi")))
#include "katana/wire/http1/parse_whole.hpp"

namespace katana::http1 {

HeadResult parse_whole_avx2(const Limits& limits, Bytes input, http::Head& head, Framing& framing,
                            KnownHost& host) noexcept {
  return detail::parse_whole<Avx2Kernels>(limits, input, head, framing, host);
}

}  // namespace katana::http1
#endif

// SPDX-License-Identifier: Apache-2.0
