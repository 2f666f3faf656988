// Invariant: for any traceparent and tracestate of a client, the values that are passed on keep the
// rules. A valid context reads as itself, and so does a state.
#include <cstddef>
#include <cstdint>

#include "katana/base/system/check.hpp"
#include "katana/observe/trace/trace_parent.hpp"
#include "katana/observe/trace/trace_state.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace katana;
  const Bytes text(reinterpret_cast<const char*>(data), size);
  if (const auto parent = trace::parse_trace_parent(text)) {
    const trace::SpanContext context = trace::remote_context(*parent);
    KATANA_CHECK(context.is_valid());
    const auto written = trace::trace_parent_of(context);
    const auto again = trace::parse_trace_parent(Bytes(written.data(), written.size()));
    KATANA_CHECK(again && trace::remote_context(*again) == context);
  }
  trace::TraceState state;
  state.add(text.substr(0, size / 2));
  state.add(text.substr(size / 2));
  KATANA_CHECK(state.text().size() <= trace::trace_state_bytes_max);
  trace::TraceState again;
  again.add(state.text());
  KATANA_CHECK(!again.is_malformed() && !again.is_cut() && again.text() == state.text());
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
