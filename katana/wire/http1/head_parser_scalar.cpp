#define KATANA_TARGET
#include "katana/wire/http1/parse_whole.hpp"

namespace katana::http1 {

HeadResult parse_whole_scalar(const Limits& limits, Bytes input, http::Head& head,
                              Framing& framing) noexcept {
  return detail::parse_whole<ScalarKernels>(limits, input, head, framing);
}

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
