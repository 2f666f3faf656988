#define KATANA_TARGET
#include "katana/wire/http1/parse_whole.hpp"

namespace katana::http1 {

HeadResult parse_whole_scalar(const Limits& limits, Bytes input, http::Head& head, Framing& framing,
                              KnownHost& host) noexcept {
  return detail::parse_whole<ScalarKernels>(limits, input, head, framing, host);
}

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
