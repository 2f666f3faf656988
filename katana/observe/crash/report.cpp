#include "katana/observe/crash/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "katana/observe/crash/crash.hpp"
#include "katana/observe/crash/report_name.hpp"

namespace katana::crash {
namespace {

// Takes the text up to the next space.
Bytes take_word(Bytes& line) noexcept {
  const std::size_t end = std::min(line.find(' '), line.size());
  const Bytes word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

template <class T>
std::optional<T> number_of(Bytes text, int base) noexcept {
  T value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> hex_of(Bytes text, Bytes prefix) noexcept {
  if (!text.starts_with(prefix)) return std::nullopt;
  return number_of<std::uint64_t>(text.substr(prefix.size()), 16);
}

bool is_hex(Bytes text) noexcept {
  return std::ranges::all_of(
      text, [](char each) { return (each >= '0' && each <= '9') || (each >= 'a' && each <= 'f'); });
}

// A file of others must not control the terminal that shows it.
std::string printable(Bytes line) {
  std::string text(line);
  std::ranges::replace_if(
      text, [](char each) { return static_cast<unsigned char>(each) < 0x20 || each == 0x7f; }, '?');
  return text;
}

class Parser {
 public:
  Result<Report> parse(Bytes text);

 private:
  bool take(Bytes word, Bytes rest);
  bool take_of_head(Bytes word, Bytes rest);
  bool take_of_thread(Bytes word, Bytes rest);
  bool begin_thread(Bytes rest);
  bool take_frame(Bytes rest);
  static bool set(std::int64_t& number, Bytes text);
  ReportedThread* thread() { return report_.threads.empty() ? nullptr : &report_.threads.back(); }

  Report report_;
};

bool Parser::set(std::int64_t& number, Bytes text) {
  const auto value = number_of<std::int64_t>(text, 10);
  if (value) number = *value;
  return value.has_value();
}

bool Parser::take_of_head(Bytes word, Bytes rest) {
  if (word == "process") return set(report_.process, rest);
  if (word == "uptime-ms") return set(report_.uptime_ms, rest);
  if (word == "signal") {
    const bool good = set(report_.signal, take_word(rest));
    report_.signal_name = rest;
    return good;
  }
  std::string* const text = word == "program"    ? &report_.program
                            : word == "version"  ? &report_.version
                            : word == "build-id" ? &report_.build_id
                            : word == "time"     ? &report_.time
                            : word == "code"     ? &report_.code
                            : word == "address"  ? &report_.address
                            : word == "reason"   ? &report_.reason
                                                 : nullptr;
  if (text != nullptr) *text = rest;
  return true;  // others are of a later version
}

bool Parser::begin_thread(Bytes rest) {
  ReportedThread thread;
  if (!set(thread.id, take_word(rest))) return false;
  const Bytes state = take_word(rest);
  if (state != "crashed" && state != "runs") return false;
  thread.crashed = state == "crashed";
  thread.name = rest;
  report_.threads.push_back(std::move(thread));
  return true;
}

bool Parser::take_frame(Bytes rest) {
  Frame frame;
  const auto address = hex_of(take_word(rest), "0x");
  const Bytes build_id = take_word(rest);
  const Bytes offset = take_word(rest);
  if (!address || build_id.empty() || offset.empty() || rest.empty()) return false;
  frame.address = *address;
  if (build_id != "-") {
    if (!is_hex(build_id)) return false;
    frame.build_id = build_id;
  }
  if (offset != "-") {
    const auto number = hex_of(offset, "+0x");
    if (!number) return false;
    frame.offset = *number;
    frame.path = rest;
  }
  thread()->frames.push_back(std::move(frame));
  return true;
}

bool Parser::take_of_thread(Bytes word, Bytes rest) {
  if (thread() == nullptr) return false;
  if (word == "frame") return take_frame(rest);
  if (word == "on") thread()->route = rest;
  if (word == "request") thread()->request = rest;
  if (word == "in-flight") thread()->in_flight.emplace_back(rest);
  if (word == "more-frames") thread()->cut = true;
  if (word == "no-answer") thread()->answered = false;
  return true;
}

bool Parser::take(Bytes word, Bytes rest) {
  if (word == "thread") return begin_thread(rest);
  if (word == "reactor") {
    report_.reactors.emplace_back(rest);
    return true;
  }
  if (word == "record") {
    report_.records.emplace_back(rest);
    return true;
  }
  if (word == report_end && rest.empty()) {
    report_.whole = true;
    return true;
  }
  for (const Bytes each : {"frame", "on", "request", "in-flight", "more-frames", "no-answer"}) {
    if (word == each) return take_of_thread(word, rest);
  }
  return take_of_head(word, rest);
}

Result<Report> Parser::parse(Bytes text) {
  const auto refuse = [](std::size_t line, Bytes what) {
    return fail(Code::invalid_argument, fmt::format("line {}: {}", line, what));
  };
  if (text.size() > 2 * report_bytes_max) {
    return fail(Code::invalid_argument,
                fmt::format("a crash report has at most {} bytes, and this file {}",
                            report_bytes_max, text.size()));
  }
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    // The process ended within a line: what was written before it counts.
    if (end == text.npos && number > 1) break;
    const std::string shown = printable(text.substr(0, end));
    Bytes line = shown;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (number == 1) {
      if (line == report_begin) continue;
      if (line.starts_with("katana-crash-report ")) {
        return refuse(1, fmt::format("version '{}' of the format is not known: update the tool",
                                     line.substr(20, 16)));
      }
      return refuse(1,
                    fmt::format("this is no crash report: it must begin with '{}'", report_begin));
    }
    const Bytes whole = line;
    const Bytes word = take_word(line);
    if (!take(word, line)) {
      return refuse(number, fmt::format("malformed: '{}'", whole.substr(0, 80)));
    }
  }
  if (report_.signal == 0) return refuse(1, "the report has no signal: the process ended too soon");
  return std::move(report_);
}

const ReportedThread* crashed_of(const Report& report) {
  const auto found = std::ranges::find_if(report.threads, &ReportedThread::crashed);
  return found != report.threads.end() ? &*found : nullptr;
}

}  // namespace

Result<Report> parse_report(Bytes text) {
  if (text.empty()) return fail(Code::invalid_argument, "the file is empty");
  return Parser().parse(text);
}

std::string summary_of(const Report& report) {
  std::string text = fmt::format("signal {} {}", report.signal, report.signal_name);
  if (!report.address.empty()) text += fmt::format(" at {}", report.address);
  if (const ReportedThread* const thread = crashed_of(report)) {
    text += fmt::format(" in thread '{}'", thread->name);
    if (!thread->route.empty()) text += fmt::format(" on {}", thread->route);
    if (!thread->request.empty()) text += fmt::format(" (request {})", thread->request);
  }
  if (!report.reason.empty()) text += fmt::format(": {}", report.reason);
  return text;
}

std::string top_frames_of(const Report& report, std::size_t count_max) {
  const ReportedThread* const thread = crashed_of(report);
  if (thread == nullptr) return {};
  std::string text;
  for (std::size_t index = 0; index < std::min(count_max, thread->frames.size()); ++index) {
    const Frame& frame = thread->frames[index];
    if (index > 0) text += ", ";
    if (frame.path.empty()) {
      text += fmt::format("0x{:x}", frame.address);
    } else {
      text += fmt::format("{}+0x{:x}", frame.path.substr(frame.path.rfind('/') + 1), frame.offset);
    }
  }
  return text;
}

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
