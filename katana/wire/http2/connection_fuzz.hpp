// FuzzRun: the run of a machine in the fuzzers of both sides. It feeds the machine any bytes, cut
// anywhere, and checks the bytes that it sent.
//
// Owns       its machine and outbox, and the events as one text.
// Thread     one.
// Fails      by abort(): the machine sent a partial frame, or a window or stream is out of bounds.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "katana/base/memory/block_pool.hpp"
#include "katana/base/memory/outbox.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/wire/http/head.hpp"
#include "katana/wire/http2/frame.hpp"

namespace katana::http2 {

inline void require(bool holds) {
  if (!holds) std::abort();
}

template <class ContextType, class MachineType, class StepType>
class FuzzRun {
 public:
  // Returns the events.
  std::string feed(Bytes input) {
    std::string kept;
    for (std::size_t at = 0; at < input.size() && !machine_.closed(); at += most_) {
      kept += input.substr(at, most_);
      pull(kept);
      check_sent();
    }
    finish();
    return std::move(events_);
  }

 protected:
  // The input comes in pieces of at most so many bytes.
  FuzzRun(ContextType& context, std::size_t most) : context_(context), most_(most) {
    require(machine_.start(outbox_));
  }
  ~FuzzRun() = default;

  // Called for every event but the end of the connection.
  virtual void report(const StepType& step) = 0;
  virtual void finish() {}

  static void check_fields(const http::Head& fields) {
    for (std::size_t index = 0; index < fields.field_count(); ++index) {
      require(fields.name(index).find_first_of("\r\n: ") == Bytes::npos);
      require(fields.value(index).find_first_of("\r\n") == Bytes::npos);
    }
  }

 private:
  void pull(std::string& kept) {
    using Kind = decltype(StepType::event);
    for (;;) {
      const StepType step = machine_.next(kept, now_, outbox_);
      require(step.consumed <= kept.size());
      if (step.event == Kind::closed) {
        events_ += "closed " + std::string(text_of(machine_.failure()).name);
        return;
      }
      report(step);
      kept.erase(0, step.consumed);
      if (step.event == Kind::need_bytes && (step.consumed == 0 || kept.empty())) return;
    }
  }

  void check_sent() {
    std::string text;
    outbox_.for_each_pending([&](Bytes bytes, const Retained*) { text += bytes; });
    outbox_.clear();
    for (Bytes sent = text; !sent.empty();) {
      require(sent.size() >= frame_header_bytes);
      const FrameHeader header = parse_frame_header(sent.data());
      require(header.size <= frame_bytes_max && sent.size() >= frame_header_bytes + header.size);
      sent.remove_prefix(frame_header_bytes + header.size);
    }
    for (const auto* each = machine_.first(); each != nullptr; each = each->next_in_list()) {
      using State = decltype(each->state);
      require(each->send_window <= window_bytes_max && each->receive_window >= 0);
      require(each->state != State::closed && each->state != State::idle);
    }
  }

  // The blocks are made once for all runs: making them costs more than a run.
  static BlockPool& shared_blocks() {
    static BlockPool blocks(4096, 4096);
    return blocks;
  }

 protected:
  ContextType& context_;
  Outbox outbox_{shared_blocks()};
  const Instant now_{seconds(100).ns};
  MachineType machine_{context_, now_};
  std::string events_;

 private:
  const std::size_t most_;
};

// The first byte decides how the rest is cut. `opening` comes first: without it nearly every input
// would be refused.
template <class Run>
void check_any_cut(Bytes opening, const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  const std::string input =
      std::string(opening) + std::string(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = Run(SIZE_MAX / 2).feed(input);
  const std::string pieces = Run(1 + data[0] % 64).feed(input);
  require(whole == pieces);
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
