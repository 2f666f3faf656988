// Invariant: however the bytes are cut, Startup gives the same events. A server that does not know
// the password is never authenticated by SCRAM, and never by a method that the options do not
// allow. Before TLS, nothing but SSLRequest is written.
//
// The input is a byte that chooses the options, three that choose cuts, and the bytes of a server.
// With TLS, the first of these stands before the handshake and the others behind it.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/base/system/pieces_fuzz.hpp"
#include "katana/wire/postgres/startup.hpp"

namespace {

using namespace katana;
using namespace katana::postgres;

struct TextSink {
  bool takes(std::size_t) const { return true; }
  void write(Bytes bytes) { text += bytes; }
  std::string text;
};

StartupOptions options_from(std::uint8_t choice) {
  StartupOptions options;
  options.user = "katana";
  options.tls = (choice & 1) != 0 ? TlsStart::request : TlsStart::off;
  options.binding = static_cast<ChannelBinding>((choice >> 1) % 3);
  options.methods.md5 = (choice & 8) != 0;
  options.methods.cleartext = (choice & 16) != 0;
  options.methods.nothing = (choice & 32) != 0;
  options.version = (choice & 64) != 0 ? version_3_0 : version_3_2;
  options.version_min = (choice & 128) != 0 ? options.version : version_3_0;
  return options;
}

Limits limits_of_fuzzing() {
  Limits limits;
  limits.scram_iterations_min = 1;
  limits.scram_iterations_max = 4;
  limits.start_messages_max = 8;
  limits.authentication_bytes_max = 300;
  limits.message_bytes_max = 100;
  limits.report_bytes_max = 300;
  limits.row_bytes_max = 100;
  limits.description_bytes_max = 100;
  return limits;
}

class Reader {
 public:
  explicit Reader(const StartupOptions& options)
      : options_(options), startup_(options, "0123456789abcdefgh", limits_) {
    KATANA_CHECK(startup_.begin(sink_) == Submitted::ok);
  }

  void take(std::string& pending) {
    while (!has_ended_) {
      const std::size_t size = startup_.state() == StartState::asking
                                   ? std::min<std::size_t>(1, pending.size())
                                   : pending.size();
      const std::vector<char> apart(pending.data(), pending.data() + size);
      const StartStep step = startup_.next({apart.data(), apart.size()}, sink_);
      KATANA_CHECK(step.consumed <= size);
      pending.erase(0, step.consumed);
      if (!note(step, size)) return;
    }
  }
  const std::string& events() const { return events_; }

 private:
  // Whether another event may follow.
  bool note(const StartStep& step, std::size_t size) {
    switch (step.event) {
      case StartEvent::need_bytes:
        if (startup_.state() != StartState::ready) {
          KATANA_CHECK(step.size > size && step.size <= limits_.bytes_max());
        }
        return false;
      case StartEvent::refused:
        KATANA_CHECK(step.consumed == 0);
        if (!std::exchange(is_refused_, true)) {
          events_ += "R" + std::to_string(static_cast<int>(startup_.refusal()));
        }
        return false;
      case StartEvent::encrypt:
        KATANA_CHECK(sink_.text.size() == 8);
        KATANA_CHECK(startup_.encrypted({.server_end_point = "end point"}, sink_) == Submitted::ok);
        break;
      case StartEvent::password:
        KATANA_CHECK(options_.methods.md5 || options_.methods.cleartext);
        KATANA_CHECK(options_.binding != ChannelBinding::required);
        was_asked_ = true;
        KATANA_CHECK(startup_.answer("unknown", sink_) == Submitted::ok);
        break;
      case StartEvent::proof:
        KATANA_CHECK(startup_.challenge().iterations <= limits_.scram_iterations_max);
        KATANA_CHECK(startup_.answer("unknown", sink_) == Submitted::ok);
        break;
      case StartEvent::verified: KATANA_CHECK(false); break;
      case StartEvent::authenticated:
        KATANA_CHECK(was_asked_ || options_.methods.nothing);
        KATANA_CHECK(options_.binding != ChannelBinding::required);
        break;
      default: break;
    }
    if (options_.binding == ChannelBinding::required && step.event == StartEvent::scram) {
      KATANA_CHECK(startup_.is_bound());
    }
    events_ += std::to_string(static_cast<int>(step.event)) + ":" + std::string(step.body);
    has_ended_ = step.event == StartEvent::ready || step.event == StartEvent::error;
    return !has_ended_;
  }

  const StartupOptions options_;
  const Limits limits_ = limits_of_fuzzing();
  TextSink sink_;
  Startup startup_;
  std::string events_;
  bool was_asked_ = false;
  bool is_refused_ = false;
  bool has_ended_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const StartupOptions options = options_from(data[0]);
  const Bytes bytes(reinterpret_cast<const char*>(data) + 4, size - 4);
  const auto play = [&](const std::vector<std::size_t>& cuts) {
    Reader reader(options);
    give_in_pieces(bytes, cuts, [&reader](std::string& pending) { reader.take(pending); });
    return reader.events();
  };
  const std::string whole = play({});
  KATANA_CHECK(whole == play(cuts_from({data + 1, 3}, bytes.size())));
  KATANA_CHECK(whole == play(every_cut_of_short(bytes.size())));
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
