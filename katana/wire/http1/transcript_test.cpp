#include "katana/wire/http1/transcript_test.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

namespace katana::http1 {
namespace {

constexpr std::array<Bytes, refusal_texts.size()> refusal_names = {
    "none",
    "bad_request_line",
    "request_line_too_long",
    "unsupported_version",
    "bare_line_break",
    "control_character",
    "bad_field_line",
    "white_space_before_colon",
    "folded_field",
    "head_too_long",
    "too_many_fields",
    "missing_host",
    "repeated_host",
    "bad_host",
    "target_is_not_host",
    "bad_content_length",
    "repeated_content_length",
    "length_and_encoding",
    "last_coding_not_chunked",
    "unknown_coding",
    "encoding_in_http10",
    "unknown_expectation",
    "content_too_large",
    "bad_chunk_size",
    "chunk_line_too_long",
    "bad_chunk_extension",
    "bad_chunk_end",
    "bad_trailer",
    "trailer_too_long",
    "head_timeout",
    "content_timeout",
    "input_ended",
};

// ---- reading ---------------------------------------------------------------------------------

const std::map<std::string, std::size_t Limits::*> size_limits = {
    {"request_line_bytes_max", &Limits::request_line_bytes_max},
    {"head_bytes_max", &Limits::head_bytes_max},
    {"fields_max", &Limits::fields_max},
    {"chunk_line_bytes_max", &Limits::chunk_line_bytes_max},
    {"chunk_overhead_bytes_max", &Limits::chunk_overhead_bytes_max},
    {"trailer_bytes_max", &Limits::trailer_bytes_max},
    {"trailer_fields_max", &Limits::trailer_fields_max},
};

const std::map<std::string, Duration Limits::*> time_limits = {
    {"idle_timeout", &Limits::idle_timeout},
    {"head_timeout", &Limits::head_timeout},
    {"content_timeout", &Limits::content_timeout},
};

const std::map<std::string, Occasion> occasions = {{"head", Occasion::head},
                                                   {"content", Occasion::content},
                                                   {"end", Occasion::end},
                                                   {"refusal", Occasion::refusal}};

// "5 s" or "1 ms".
bool read_duration(std::istream& words, Duration& duration) {
  std::int64_t count = 0;
  std::string unit;
  if (!(words >> count >> unit)) return false;
  duration = unit == "s" ? seconds(count) : milliseconds(count);
  return unit == "s" || unit == "ms";
}

bool read_limit(const std::string& name, std::istream& words, Case& one) {
  if (name == "content_bytes_max") return bool(words >> one.limits.content_bytes_max);
  if (name == "rate_min_bytes_per_s") return bool(words >> one.limits.rate_min_bytes_per_s);
  if (const auto limit = time_limits.find(name); limit != time_limits.end()) {
    return read_duration(words, one.limits.*(limit->second));
  }
  const auto limit = size_limits.find(name);
  return limit != size_limits.end() && words >> one.limits.*(limit->second);
}

// Reads the text between quotes and unescapes it.
bool read_quoted(std::istream& words, std::string& text) {
  std::string quoted;
  if (!std::getline(std::getline(words, quoted, '"'), quoted, '"')) return false;
  text = unescape(quoted);
  return true;
}

// "respond 200 type text/plain fields "A: b\r\n" stays "Hello"", and the like.
bool read_command(std::istream& words, Command& command) {
  if (!(words >> command.verb)) return false;
  if (command.verb == "write") return read_quoted(words, command.content);
  const bool replies = command.verb == "respond" || command.verb == "begin";
  if (!replies && command.verb != "limit") return true;
  if (!(words >> command.number)) return false;
  while (words >> std::ws && !words.eof()) {
    if (words.peek() == '"') return read_quoted(words, command.content);
    std::string word;
    words >> word;
    if (word == "type" && words >> command.type) continue;
    if (word == "length" && words >> command.length) continue;
    if (word == "fields" && read_quoted(words, command.fields)) continue;
    command.stays = word == "stays";
    if (!command.stays) return false;
  }
  return true;
}

// "at head of request 2: respond 200", or "head_bytes_max 60".
bool read_given(const std::string& line, Case& one) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word == "server_and_date") return read_quoted(words, one.server_and_date);
  if (word != "at") return read_limit(word, words, one);
  Command command;
  std::string place;
  std::getline(words >> std::ws, place, ':');
  std::istringstream place_words(place);
  place_words >> place;
  const auto occasion = occasions.find(place);
  if (occasion == occasions.end()) return false;
  command.occasion = occasion->second;
  if (place_words >> word && !(place_words >> word >> command.request)) return false;
  if (!read_command(words, command)) return false;
  one.commands.push_back(std::move(command));
  return true;
}

// Bytes, or "(5 s)", or "(the peer ends)".
bool read_sent(const std::string& line, Case& one) {
  if (!line.starts_with('(')) {
    one.sent += unescape(line);
    return true;
  }
  Moment moment{one.sent.size(), {}, line == "(the peer ends)"};
  std::istringstream words(line.substr(1, line.size() - 2));
  if (!moment.peer_ends && !read_duration(words, moment.passes)) return false;
  one.moments.push_back(moment);
  return true;
}

bool read_line(const std::string& fence, const std::string& line, Case& one) {
  if (fence == "given") return read_given(line, one);
  if (fence == "sent") return read_sent(line, one);
  (fence == "events" ? one.events : one.reply) += line + "\n";
  return true;
}

// Reads a fence to its end, and gives the line that was not understood, if any.
std::string read_fence(std::istream& file, const std::string& fence, Case& one) {
  constexpr std::array<Bytes, 4> order = {"given", "sent", "events", "reply"};
  const auto found = std::ranges::find(order, Bytes(fence));
  const unsigned bit = 1u << (found - order.begin());
  if (found == order.end() || one.fences >= bit) return "```" + fence;
  one.fences |= bit;
  for (std::string line; std::getline(file, line);) {
    if (line == "```") return "";
    if (!read_line(fence, line, one)) return line;
  }
  return "the end of the file";
}

}  // namespace

Cases read_cases(const std::string& path) {
  Cases cases;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line) && cases.complaint.empty();) {
    if (line.starts_with("## ")) continue;
    if (line.starts_with("### ")) {
      cases.all.emplace_back().title = line.substr(4);
    } else if (line.starts_with("```")) {
      cases.complaint =
          cases.all.empty() ? line : read_fence(file, line.substr(3), cases.all.back());
    } else if (!cases.all.empty()) {
      cases.all.back().why += line;
    }
  }
  constexpr unsigned sent_and_events = 2 | 4;
  for (const Case& one : cases.all) {
    const bool finished = (one.fences & sent_and_events) == sent_and_events && !one.why.empty();
    if (cases.complaint.empty() && !finished) cases.complaint = "an unfinished case: " + one.title;
  }
  return cases;
}

std::string escape_in_lines(Bytes text) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.append(escape(text.substr(0, size))).append("\n");
    text.remove_prefix(size);
  }
  return lines;
}

Bytes name_of(Refusal refusal) { return refusal_names.at(static_cast<std::size_t>(refusal)); }

// ---- playing ---------------------------------------------------------------------------------

// Notes which transition a call took. Two lead from discard to closed; the call decides between
// them.
template <class Call>
auto Play::observe(By by, Call call) {
  const State before = machine_.state();
  const auto result = call();
  for (std::size_t row = 0; row < transitions.size(); ++row) {
    const Transition& each = transitions[row];
    const bool is_end = each.cause == Cause::end;
    const bool fits = before != State::discard || is_end == (by == By::end_of_input);
    if (fits && each.from == before && each.to == machine_.state()) taken_.set(row);
  }
  return result;
}

Play::Play(const Case& one, Kernels kernels)
    : case_(one), context_(one.limits, kernels), machine_(context_, Instant()) {
  context_.head_writer.set_server_and_date(one.server_and_date);
}

void Play::begin() {
  now_ = Instant{} + seconds(1000);
  machine_ = Machine(context_, now_);
  arrived_ = consumed_ = requests_ = 0;
  waits_ = over_ = false;
  content_.clear();
  outcome_.events.clear();
  outcome_.reply.clear();
}

const Outcome& Play::run(std::span<const std::size_t> cuts, Memory memory) {
  memory_ = memory;
  begin();
  auto moment = case_.moments.begin();
  const auto happen_until = [&](std::size_t end) {
    for (; moment != case_.moments.end() && moment->at <= end; ++moment) {
      arrive_until(moment->at);
      happen(*moment);
    }
    arrive_until(end);
  };
  for (const std::size_t cut : cuts) happen_until(cut);
  happen_until(case_.sent.size());
  flush_content();
  if (!over_)
    log(std::string("waits in ")
            .append(state_names.at(static_cast<std::size_t>(machine_.state()))));
  std::array<iovec, 64> pieces;
  const std::size_t count = outbox_.gather(pieces);
  for (const iovec& piece : std::span(pieces).first(count)) {
    outcome_.reply.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
  }
  outbox_.clear();
  return outcome_;
}

void Play::arrive_until(std::size_t end) {
  if (end == arrived_) return;
  arrived_ = end;
  pull();
}

void Play::pull() {
  for (bool more = true; more && !over_;) {
    const std::size_t consumed = consumed_;
    const State state = machine_.state();
    const Bytes input = Bytes(case_.sent).substr(consumed_, arrived_ - consumed_);
    if (memory_ == Memory::in_place) {
      take_step(input);
    } else {
      const auto copy = std::make_unique<char[]>(input.size());
      std::ranges::copy(input, copy.get());
      take_step({copy.get(), input.size()});
    }
    more = !waits_ && (consumed_ != consumed || machine_.state() != state);
  }
}

void Play::take_step(Bytes input) {
  const Step step = observe(By::bytes, [&] { return machine_.next(input, now_); });
  require(step.consumed <= input.size(), "more consumed than given");
  consumed_ += step.consumed;
  report(step, input.substr(0, step.consumed));
}

void Play::happen(const Moment& moment) {
  if (moment.peer_ends) {
    if (over_) return;
    const bool says = observe(By::end_of_input, [&] { return machine_.end_of_input(); });
    if (says) pull();
    return;
  }
  now_ = now_ + moment.passes;
  const State state = machine_.state();
  observe(By::deadline, [&] { return machine_.on_deadline(now_), 0; });
  if (machine_.state() != state) pull();
}

void Play::report(const Step& step, Bytes input) {
  switch (step.event) {
    case Event::head: report_head(input); break;
    case Event::content: {
      const Bytes content = machine_.content();
      const bool inside =
          content.empty() || (content.data() >= input.data() &&
                              content.data() + content.size() <= input.data() + input.size());
      require(inside, "content outside of what was consumed");
      content_ += content;
      answer(Occasion::content);
      break;
    }
    case Event::refused: report_refusal(); return;
    case Event::closed: report_closed(); return;
    case Event::need_bytes: return;
    case Event::paused:
      require(machine_.state() == State::reply && step.consumed == 0, "paused without a reason");
      return;
  }
  if (!step.last) return;
  flush_content();
  log("complete");
  if (machine_.state() == State::reply) {  // else a command has replied already
    const Step paused = machine_.next(input, now_);
    require(paused.event == Event::paused && paused.consumed == 0, "not paused");
  }
  answer(Occasion::end);
  if (machine_.state() == State::reply && !machine_.reply_begun()) fall_back(200);
}

void Play::report_head(Bytes input) {
  ++requests_;
  const http::Head& head = context_.head;
  const Framing& framing = machine_.framing();
  require(head.bytes() == input, "a head that is not what was consumed");
  std::string line = "request ";
  line.append(head.method_text()).append(" ").append(escape(head.target()));
  line.append(" HTTP/1.").append(std::to_string(head.minor_version()));
  line.append(framing.keep_alive ? ", keep-alive" : ", close");
  if (framing.content == ContentKind::length) {
    line.append(", length ").append(std::to_string(framing.content_length));
  }
  if (framing.content == ContentKind::chunked) line.append(", chunked");
  if (framing.expects_continue) line.append(", expects continue");
  if (framing.wants_upgrade) line.append(", upgrade");
  log(line);
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    line.assign("  ").append(head.name(index)).append(": ").append(escape(head.value(index)));
    log(line);
  }
  answer(Occasion::head);
}

void Play::report_refusal() {
  if (waits_) return;
  flush_content();
  const Refusal refusal = machine_.refusal();
  refusals_.set(static_cast<std::size_t>(refusal));
  const unsigned status = text_of(refusal).status;
  log(std::string("refused ").append(std::to_string(status)).append(" ").append(name_of(refusal)));
  answer(Occasion::refusal);
  if (machine_.state() != State::refused) return;
  if (machine_.reply_begun()) {
    log("the reply that was begun cannot be completed");
  } else {
    fall_back(status);
  }
  waits_ = machine_.state() == State::refused;
}

void Play::report_closed() {
  flush_content();
  over_ = true;
  log(machine_.input_may_follow() ? "closed, input may follow" : "closed");
  require(machine_.deadline() == never, "a deadline after the end");
  const Step step = machine_.next("GET / HTTP/1.1\r\nHost: a\r\n\r\n", now_);
  require(step.event == Event::closed && step.consumed == 0, "an event after the end");
  require(!machine_.end_of_input(), "something to say after the end");
  require(!machine_.respond({}, "", false, now_, outbox_), "a reply after the end");
}

void Play::answer(Occasion occasion) {
  for (const Command& command : case_.commands) {
    const bool wanted = command.request == 0 || command.request == requests_;
    if (command.occasion != occasion || !wanted) continue;
    if (!observe(By::command, [&] { return obey(command); })) log(command.verb + " fails");
  }
}

bool Play::obey(const Command& command) {
  const std::string& verb = command.verb;
  if (verb == "respond" || verb == "begin") return reply_with(command);
  if (verb == "write") return machine_.write_content(command.content, outbox_);
  if (verb == "echo") return machine_.write_content(machine_.content(), outbox_);
  if (verb == "end") return machine_.end_reply(now_, outbox_);
  if (verb == "limit") return machine_.limit_content(command.number);
  if (verb == "continue") return machine_.send_continue(outbox_);
  if (verb == "close") return machine_.close_after_reply(), true;
  waits_ = verb == "wait";
  return waits_;
}

bool Play::reply_with(const Command& command) {
  const http::ReplyHead head{.status = static_cast<unsigned>(command.number),
                             .content_type = command.type,
                             .fields = command.fields,
                             .content_length = command.length};
  if (command.verb == "begin") return machine_.begin_reply(head, outbox_);
  return machine_.respond(head, command.content, command.stays, now_, outbox_);
}

// Replies in place of the handler when the case has no command.
void Play::fall_back(unsigned status) {
  if (waits_) return;
  http::ReplyHead head;
  head.status = status;
  const bool written =
      observe(By::command, [&] { return machine_.respond(head, "", false, now_, outbox_); });
  require(written, "no reply");
}

void Play::log(Bytes line) { outcome_.events.append(line).append("\n"); }

void Play::flush_content() {
  if (content_.empty()) return;
  log("content " + escape(content_));
  content_.clear();
}

void Play::require(bool condition, Bytes what) {
  if (!condition) log(std::string("DEFECT: ").append(what));
}

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
