// Invariant: however the bytes are cut, Machine gives the same events and comes to the same end. It
// never leaves more than a line with its caller. The pieces of a message are as long as its head
// said.
//
// The input is three bytes that choose cuts, and the bytes.
#include <cstdint>
#include <string>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/base/system/pieces_fuzz.hpp"
#include "katana/wire/nats/machine.hpp"

namespace {

using namespace katana;
using namespace katana::nats;

constexpr Limits limits{.line_bytes_max = 100, .info_bytes_max = 200, .message_bytes_max = 5000};

class Reader {
 public:
  void take(std::string& pending) {
    while (true) {
      const Step step = machine_.next(pending);
      KATANA_CHECK(step.consumed <= pending.size());
      note(step);
      pending.erase(0, step.consumed);
      if (step.event == Event::need_bytes) {
        KATANA_CHECK(pending.size() <= limits.info_bytes_max + 1);
        return;
      }
      if (step.event == Event::refused) return;
    }
  }
  const std::string& events() const { return events_; }

 private:
  void note(const Step& step) {
    if (step.event == Event::need_bytes) return;
    if (step.event == Event::message) {
      KATANA_CHECK(step.head.header_size <= step.head.size);
      KATANA_CHECK(step.head.size <= limits.message_bytes_max);
      left_ = step.head.size;
      events_ += "M" + std::string(step.head.subject) + " " + std::string(step.head.reply_to) +
                 " " + std::to_string(step.head.subscription) + " " +
                 std::to_string(step.head.header_size) + " " + std::to_string(step.head.size);
    } else if (step.event == Event::piece) {
      KATANA_CHECK(step.text.size() <= left_);
      left_ -= step.text.size();
      KATANA_CHECK(step.is_last == (left_ == 0));
      events_ += step.text;
    } else if (step.event == Event::refused) {
      // Every further call reports it again.
      if (!std::exchange(is_refused_, true)) {
        events_ += "R" + std::to_string(static_cast<int>(machine_.refusal()));
      }
    } else {
      events_ += std::to_string(static_cast<int>(step.event)) + std::string(step.text);
    }
  }

  Machine machine_{limits};
  std::string events_;
  std::size_t left_ = 0;
  bool is_refused_ = false;
};

std::string read(Bytes bytes, const std::vector<std::size_t>& cuts) {
  Reader reader;
  give_in_pieces(bytes, cuts, [&](std::string& pending) { reader.take(pending); });
  return reader.events();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const Bytes bytes(reinterpret_cast<const char*>(data) + 3, size - 3);
  const std::string whole = read(bytes, {});
  KATANA_CHECK(whole == read(bytes, cuts_from({data, 3}, bytes.size())));
  KATANA_CHECK(whole == read(bytes, every_cut_of_short(bytes.size())));
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
