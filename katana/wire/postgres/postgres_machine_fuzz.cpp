// Invariant: however the bytes are cut, Machine gives the same events. It never consumes more than
// there is, never asks for more than its limits, and answers requests in the order of their
// numbers. The parts of each body that it reports are within that body. Where next_row() takes
// a row, next() reports it, with the same values.
//
// The input is a byte that chooses limits, and three that choose cuts. One with a number of
// requests and one byte for each request follow. The rest are the bytes of a server.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/base/system/pieces_fuzz.hpp"
#include "katana/wire/postgres/machine.hpp"

namespace {

using namespace katana;
using namespace katana::postgres;

struct NoSink {
  bool takes(std::size_t) const { return true; }
  void write(Bytes) {}
};

void submit(Machine& machine, std::uint8_t choice) {
  NoSink sink;
  switch (choice % 9) {
    case 0: (void)machine.query("SELECT 1", sink); break;
    case 1: (void)machine.parse({.sql = "SELECT 1"}, sink); break;
    case 2: (void)machine.bind({}, sink); break;
    case 3: (void)machine.describe(Kind::statement, "s", sink); break;
    case 4: (void)machine.describe(Kind::portal, "p", sink); break;
    case 5: (void)machine.execute({.rows_max = choice / 9u % 4}, sink); break;
    case 6: (void)machine.execute({.columns = static_cast<std::uint16_t>(choice / 9)}, sink); break;
    case 7: (void)machine.close(Kind::portal, "p", sink); break;
    default: (void)machine.sync(sink); break;
  }
}

// All parts of a body, which have to be within it.
template <class View, class Part>
std::size_t count_parts(Bytes body) {
  View view(body);
  std::size_t count = 0;
  for (Part part{}; view.next(part);) ++count;
  KATANA_CHECK(count == view.count());
  return count;
}

void read_value_bytes(Bytes body) {
  Row row(body);
  std::size_t total = 2;
  for (Value value; row.next(value);) {
    total += 4 + value.bytes.size();
    KATANA_CHECK(value.bytes.empty() ||
                 (value.bytes.data() >= body.data() &&
                  value.bytes.data() + value.bytes.size() <= body.data() + body.size()));
  }
  KATANA_CHECK(total == body.size());
}

class Reader {
 public:
  Reader(const Limits& limits, std::span<const std::uint8_t> requests)
      : limits_(limits), memory_(8), machine_(memory_, limits) {
    for (const std::uint8_t choice : requests) submit(machine_, choice);
  }

  void take(std::string& pending) {
    for (;;) {
      const std::vector<char> apart(pending.begin(), pending.end());
      const Bytes input(apart.data(), apart.size());
      Machine other = machine_;
      std::vector<Bytes> values(row_columns_);
      const std::size_t taken = has_row_ ? other.next_row(input, values) : 0;
      const Step step = machine_.next(input);
      if (taken > 0) check_row_alike(step, taken, values);
      KATANA_CHECK(step.consumed <= pending.size());
      note(step, pending.size());
      pending.erase(0, step.consumed);
      if (step.event == Event::need_bytes || step.event == Event::refused) return;
    }
  }
  const std::string& events() const { return events_; }

 private:
  static void check_row_alike(const Step& step, std::size_t taken,
                              const std::vector<Bytes>& values) {
    KATANA_CHECK(step.event == Event::row && step.consumed == taken);
    Row row(step.body);
    KATANA_CHECK(row.count() == values.size());
    for (const Bytes each : values) {
      Value value;
      KATANA_CHECK(row.next(value) && value.bytes == each);
      KATANA_CHECK(value.is_null == (each.data() == nullptr));
    }
  }
  void note(const Step& step, std::size_t size) {
    has_row_ = step.event == Event::row;
    if (has_row_) row_columns_ = Row(step.body).count();
    if (step.event == Event::need_bytes) {
      KATANA_CHECK(step.size > size && step.size <= limits_.bytes_max());
      return;
    }
    if (step.event == Event::refused) {
      KATANA_CHECK(step.consumed == 0);
      if (!std::exchange(is_refused_, true)) {
        events_ += "R" + std::to_string(static_cast<int>(machine_.refusal()));
      }
      return;
    }
    KATANA_CHECK(!is_refused_ && step.consumed == step.body.size() + header_bytes);
    KATANA_CHECK(step.request >= request_ && step.request <= machine_.next_request());
    request_ = step.request;
    events_ += std::to_string(static_cast<int>(step.event)) + "/" + std::to_string(request_) + ":" +
               std::string(step.body);
    read_body(step);
  }
  void read_body(const Step& step) {
    switch (step.event) {
      case Event::row: read_value_bytes(step.body); break;
      case Event::columns: count_parts<Fields, Field>(step.body); break;
      case Event::parameters: count_parts<ParameterTypes, std::uint32_t>(step.body); break;
      case Event::copy_out: count_parts<CopyFormats, postgres::Format>(step.body); break;
      case Event::copy_in: {
        NoSink sink;
        count_parts<CopyFormats, postgres::Format>(step.body);
        KATANA_CHECK(machine_.copy_data("x", sink) == Submitted::ok);
        KATANA_CHECK(machine_.end_copy(sink) == Submitted::ok);
        (void)machine_.sync(sink);
        break;
      }
      case Event::error: KATANA_CHECK(report_of(step.body).sqlstate.size() == 5); break;
      case Event::complete: KATANA_CHECK(!tag_of(step.body).text.empty()); break;
      default: break;
    }
  }

  const Limits limits_;
  std::vector<Machine::Pending> memory_;
  Machine machine_;
  std::string events_;
  std::uint64_t request_ = 0;
  std::uint16_t row_columns_ = 0;
  bool is_refused_ = false;
  bool has_row_ = false;  // was the last event
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 5) return 0;
  Limits limits;
  limits.row_bytes_max = 16 + data[0];
  limits.report_bytes_max = 300;
  limits.description_bytes_max = 400;
  limits.message_bytes_max = 100;
  const std::size_t requests = std::min<std::size_t>(data[4] % 16, size - 5);
  const std::span<const std::uint8_t> calls(data + 5, requests);
  const Bytes bytes(reinterpret_cast<const char*>(data) + 5 + requests, size - 5 - requests);
  const auto play = [&](const std::vector<std::size_t>& cuts) {
    Reader reader(limits, calls);
    give_in_pieces(bytes, cuts, [&reader](std::string& pending) { reader.take(pending); });
    return reader.events();
  };
  const std::string whole = play({});
  KATANA_CHECK(whole == play(cuts_from({data + 1, 3}, bytes.size())));
  KATANA_CHECK(whole == play(every_cut_of_short(bytes.size())));
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
