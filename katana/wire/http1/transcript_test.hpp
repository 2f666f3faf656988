// Case and Play: the transcripts of machine.cases.md, and a machine that is taken through one.
//
// Owns       a case owns its text; a play owns its context, blocks and outbox.
// Borrows    a play borrows its case.
// Thread     its test's.
// Fails      read_cases() with a complaint; a play by the text of its outcome.
// Invariant  an outcome does not depend on where the bytes were cut: pieces of content are joined.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "katana/base/memory/block_pool.hpp"
#include "katana/base/memory/outbox.hpp"
#include "katana/base/system/transcript_test.hpp"
#include "katana/wire/http1/machine.hpp"

namespace katana::http1 {

enum class Occasion : std::uint8_t { head, content, end, refusal };

// An act of the handler, as in "at head of request 2: respond 200 "early"".
struct Command {
  Occasion occasion = Occasion::end;
  unsigned request = 0;  // the first is 1; 0: every one
  std::string verb;
  std::uint64_t number = 0;  // a status, or a limit in bytes
  std::int64_t length = http::unknown_length;
  std::string type;
  std::string fields;
  std::string content;
  bool stays = false;
};

struct Case {
  std::string title;
  std::string why;
  Limits limits;
  std::string server_and_date = "Server: katana\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
  std::vector<Command> commands;
  std::string sent;
  std::vector<Moment> moments;
  std::string events;
  std::string reply;
  unsigned fences = 0;  // one bit each: given, sent, events, reply
};

struct Cases {
  std::vector<Case> all;
  std::string complaint;  // the first thing that was not understood
};

Cases read_cases(const std::string& path);

// Escapes the bytes, with a new line behind each line feed.
std::string escape_in_lines(Bytes text);

Bytes name_of(Refusal refusal);

struct Outcome {
  std::string events;
  std::string reply;  // as it would be sent
  bool operator==(const Outcome&) const = default;
};

// Where next() finds its input.
enum class Memory : std::uint8_t {
  in_place,  // in the case itself
  apart,     // in a heap block of the exact size, gone after the call
};

class Play {
 public:
  Play(const Case& one, Kernels kernels);

  // The events when the bytes come in pieces that end at `cuts`, which ascend.
  const Outcome& run(std::span<const std::size_t> cuts, Memory memory);

  // Rows of `transitions` that the runs took, and refusals that they gave.
  const std::bitset<transitions.size()>& taken() const { return taken_; }
  const std::bitset<refusal_texts.size()>& refusals() const { return refusals_; }

 private:
  enum class By : std::uint8_t { bytes, command, deadline, end_of_input };

  void begin();
  void arrive_until(std::size_t end);
  void pull();
  void take_step(Bytes input);
  void happen(const Moment& moment);
  void report(const Step& step, Bytes input);
  void report_head(Bytes input);
  void report_refusal();
  void report_closed();
  void answer(Occasion occasion);
  bool obey(const Command& command);
  bool reply_with(const Command& command);
  void fall_back(unsigned status);
  void log(Bytes line);
  void flush_content();
  void require(bool condition, Bytes what);
  template <class Call>
  auto observe(By by, Call call);

  const Case& case_;
  Context context_;
  BlockPool blocks_{4096, 64};
  Outbox outbox_{blocks_};
  Machine machine_;
  Memory memory_ = Memory::in_place;
  Instant now_;
  std::size_t arrived_ = 0;
  std::size_t consumed_ = 0;
  unsigned requests_ = 0;
  bool waits_ = false;  // the handler never replies, and no further event can come
  bool over_ = false;
  std::string content_;
  Outcome outcome_;
  std::bitset<transitions.size()> taken_;
  std::bitset<refusal_texts.size()> refusals_;
};

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
