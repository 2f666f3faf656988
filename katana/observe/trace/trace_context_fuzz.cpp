// Invariant: for any traceparent, tracestate and baggage of a client, the values that are passed on
// keep the rules. A valid context reads as itself, and so do a state and baggage.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/base/text/utf8.hpp"
#include "katana/observe/trace/baggage.hpp"
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
  const std::array<std::string, 2> keys{"a", "tenant"};
  trace::Baggage baggage(keys);
  baggage.add(text.substr(0, size / 2));
  baggage.add(text.substr(size / 2));
  KATANA_CHECK(baggage.text().size() <= trace::baggage_bytes_max);
  trace::Baggage same(keys);
  same.add(baggage.text());
  KATANA_CHECK(!same.has_ignored() && same.text() == baggage.text());
  const auto value = trace::find_in_baggage(baggage.text(), keys[0]);
  KATANA_CHECK(!value || is_utf8(*value));
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
