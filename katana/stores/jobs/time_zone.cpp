#include "katana/stores/jobs/time_zone.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

namespace katana::jobs {
namespace {

using std::chrono::days;
using std::chrono::local_seconds;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

// RFC 9636 §3.2: of the 64-bit block.
constexpr std::size_t header_bytes = 44;
constexpr std::int64_t offset_s_max = 26 * 3600;
// No program needs a time outside of these bounds, and its year is no std::chrono::year.
constexpr std::int64_t time_s_max = std::int64_t{253'402'300'800};  // the year 10000
// More than twice the largest change of clocks, which is a day where a zone crossed the date line.
constexpr seconds around{52 * 3600};

std::unexpected<Error> malformed(std::string_view what) {
  return fail(Code::invalid_argument, fmt::format("it is no TZif file: {}", what));
}

std::int64_t big_endian(Bytes bytes) noexcept {
  std::uint64_t value = static_cast<unsigned char>(bytes[0]) >= 0x80 ? ~std::uint64_t{0} : 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return static_cast<std::int64_t>(value);
}

// ---- the footer

// Reads a text of POSIX's TZ from its front.
struct RuleReader {
  Bytes rest;

  bool take(char c) {
    if (!rest.starts_with(c)) return false;
    rest.remove_prefix(1);
    return true;
  }
  bool take_name() {
    std::size_t size = 0;
    if (take('<')) {
      size = rest.find('>');
      if (size == Bytes::npos || size < 3) return false;
      rest.remove_prefix(size + 1);
      return true;
    }
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    while (size < rest.size() && is_letter(rest[size])) ++size;
    rest.remove_prefix(size);
    return size >= 3;
  }
  bool take_number(std::int64_t max, std::int64_t& number) {
    std::size_t size = 0;
    number = 0;
    for (; size < rest.size() && rest[size] >= '0' && rest[size] <= '9'; ++size) {
      number = number * 10 + (rest[size] - '0');
      if (number > max) return false;
    }
    rest.remove_prefix(size);
    return size > 0;
  }
  // [+-]hh[:mm[:ss]]
  bool take_time(std::int64_t hours_max, std::int64_t& time_s) {
    const bool negative = take('-');
    if (!negative) (void)take('+');
    std::int64_t part = 0;
    if (!take_number(hours_max, part)) return false;
    time_s = part * 3600;
    for (const std::int64_t unit : {60, 1}) {
      if (!take(':')) break;
      if (!take_number(59, part)) return false;
      time_s += part * unit;
    }
    if (negative) time_s = -time_s;
    return true;
  }
  bool take_change(YearlyChange& change) {
    using Kind = YearlyChange::Kind;
    std::int64_t number = 0;
    if (take('M')) {
      change.kind = Kind::weekday_of_month;
      std::int64_t week = 0, day = 0;
      if (!take_number(12, number) || number < 1 || !take('.') || !take_number(5, week) ||
          week < 1 || !take('.') || !take_number(6, day)) {
        return false;
      }
      change.month = static_cast<int>(number);
      change.week = static_cast<int>(week);
      change.day = static_cast<int>(day);
    } else {
      change.kind = take('J') ? Kind::julian : Kind::day_of_year;
      if (!take_number(365, number)) return false;
      if (change.kind == Kind::julian && number < 1) return false;
      change.day = static_cast<int>(number);
    }
    return !take('/') || take_time(167, change.at_s);
  }
};

// ---- files

Result<std::string> read_zone_file(Bytes name) {
  const char* const variable = std::getenv("TZDIR");
  const std::string folder =
      variable != nullptr && *variable != '\0' ? variable : "/usr/share/zoneinfo";
  std::ifstream file(folder + "/" + std::string(name), std::ios::binary);
  std::string content(TimeZone::file_bytes_max + 1, '\0');
  if (file) file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  if (!content.empty()) return content;
  if (std::ifstream(folder + "/UTC")) {
    return fail(
        Code::not_found,
        fmt::format("there is no such zone in {}; expected a name such as Europe/Berlin", folder));
  }
  return fail(Code::not_found,
              fmt::format("{} has no time zones: install the package tzdata", folder));
}

bool is_zone_name(Bytes name) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '+' || c == '/';
  };
  return !name.empty() && name.size() <= TimeZone::name_bytes_max && !name.starts_with('/') &&
         std::ranges::all_of(name, is_part);
}

struct LoadedZones {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const TimeZone>, std::less<>> zones;
};

}  // namespace

sys_days YearlyChange::day_in(std::chrono::year year) const noexcept {
  const sys_days first{year / 1 / 1};
  if (kind == Kind::day_of_year) return first + days(day);
  if (kind == Kind::julian) {  // 29 February is never counted
    return first + days(day - 1 + (year.is_leap() && day >= 60 ? 1 : 0));
  }
  const auto of = year / std::chrono::month(static_cast<unsigned>(month));
  const std::chrono::weekday on(static_cast<unsigned>(day));
  if (week == 5) return of / on[std::chrono::last];
  return of / on[static_cast<unsigned>(week)];
}

sys_seconds YearlyChange::in_year(int year) const noexcept {
  return day_in(std::chrono::year(year)) + seconds(at_s);
}

Result<ZoneRule> ZoneRule::parse(Bytes text) {
  const auto wrong = [&] { return malformed(fmt::format("its rule is '{}'", text.substr(0, 80))); };
  RuleReader reader{text};
  ZoneRule rule;
  // POSIX counts to the west.
  if (!reader.take_name() || !reader.take_time(24, rule.standard_s)) return wrong();
  rule.standard_s = -rule.standard_s;
  if (reader.rest.empty()) return rule;
  if (!reader.take_name()) return wrong();
  rule.daylight_s = rule.standard_s + 3600;
  if (!reader.rest.empty() && !reader.rest.starts_with(',')) {
    if (!reader.take_time(24, rule.daylight_s)) return wrong();
    rule.daylight_s = -rule.daylight_s;
  }
  rule.begins.emplace();
  if (!reader.take(',') || !reader.take_change(*rule.begins) || !reader.take(',') ||
      !reader.take_change(rule.ends) || !reader.rest.empty()) {
    return wrong();
  }
  return rule;
}

struct TimeZone::Header {
  char version = '\0';
  std::size_t local_flags = 0;  // isutcnt and isstdcnt, and so on
  std::size_t standard_flags = 0;
  std::size_t leaps = 0;
  std::size_t times = 0;
  std::size_t types = 0;
  std::size_t name_bytes = 0;

  static Result<Header> read(Bytes file) {
    if (file.size() < header_bytes || !file.starts_with("TZif")) return malformed("its beginning");
    const auto count = [&](std::size_t index) {
      return static_cast<std::size_t>(big_endian(file.substr(20 + 4 * index).substr(0, 4)) &
                                      0xffffffff);
    };
    Header header{file[4], count(0), count(1), count(2), count(3), count(4), count(5)};
    constexpr std::size_t count_max = file_bytes_max;
    for (const std::size_t each : {header.local_flags, header.standard_flags, header.leaps,
                                   header.times, header.types, header.name_bytes}) {
      if (each > count_max) return malformed("a count of its header");
    }
    if (header.types == 0 || header.types > 256) return malformed("it has no types of local time");
    return header;
  }
  std::size_t block_bytes(std::size_t time_bytes) const noexcept {
    return times * (time_bytes + 1) + types * 6 + name_bytes + leaps * (time_bytes + 4) +
           standard_flags + local_flags;
  }
};

Result<void> TimeZone::read_block(Bytes block, const Header& header, std::size_t time_bytes) {
  if (header.leaps != 0) return malformed("it counts leap seconds, which a time of UTC does not");
  const Bytes indexes = block.substr(header.times * time_bytes, header.times);
  const Bytes types = block.substr(header.times * (time_bytes + 1), header.types * 6);
  std::vector<std::int32_t> offsets;
  for (std::size_t type = 0; type < header.types; ++type) {
    const std::int64_t offset_s = big_endian(types.substr(type * 6, 4));
    if (offset_s < -offset_s_max || offset_s > offset_s_max) return malformed("an offset");
    offsets.push_back(static_cast<std::int32_t>(offset_s));
  }
  first_offset_s_ = offsets.front();
  for (std::size_t index = 0; index < header.times; ++index) {
    const auto type = static_cast<unsigned char>(indexes[index]);
    if (type >= offsets.size()) return malformed("the type of a transition");
    const std::int64_t at = std::clamp(big_endian(block.substr(index * time_bytes, time_bytes)),
                                       -time_s_max, time_s_max);
    if (!transitions_.empty() && at < transitions_.back().at) return malformed("its order");
    if (!transitions_.empty() && at == transitions_.back().at) transitions_.pop_back();
    transitions_.push_back({at, offsets[type]});
  }
  return {};
}

Result<TimeZone> TimeZone::parse(Bytes file) {
  if (file.size() > file_bytes_max) return malformed("it is too large");
  auto header = Header::read(file);
  if (!header) return std::unexpected(header.error());
  std::size_t time_bytes = 4;
  std::size_t begin = header_bytes;
  if (header->version >= '2') {  // the block of 32 bits is there for old readers
    begin += header->block_bytes(4);
    header = Header::read(file.substr(std::min(begin, file.size())));
    if (!header) return std::unexpected(header.error());
    time_bytes = 8;
    begin += header_bytes;
  }
  const std::size_t size = header->block_bytes(time_bytes);
  if (file.size() - begin < size) return malformed("it ends too early");
  TimeZone zone;
  if (auto read = zone.read_block(file.substr(begin, size), *header, time_bytes); !read) {
    return std::unexpected(read.error());
  }
  if (time_bytes == 4) return zone;
  const Bytes footer = file.substr(begin + size);
  const std::size_t end = footer.find('\n', 1);
  if (!footer.starts_with('\n') || end == Bytes::npos) return malformed("its footer");
  if (end == 1) return zone;  // the last transition holds for ever
  auto rule = ZoneRule::parse(footer.substr(1, end - 1));
  if (!rule) return std::unexpected(rule.error());
  zone.rule_ = *rule;
  return zone;
}

Result<std::shared_ptr<const TimeZone>> TimeZone::load(Bytes name) {
  static LoadedZones loaded;
  const auto of_zone = [&](const Error& error) {
    return std::unexpected(
        error.within(fmt::format("time zone '{}'", name.substr(0, name_bytes_max))));
  };
  if (!is_zone_name(name)) {
    return of_zone(Error(Code::invalid_argument, "expected a name such as Europe/Berlin or UTC"));
  }
  const std::lock_guard lock(loaded.mutex);
  const auto found = loaded.zones.find(name);
  if (found != loaded.zones.end()) return found->second;
  auto file = read_zone_file(name);
  if (!file) return of_zone(file.error());
  auto parsed = parse(*file);
  if (!parsed) return of_zone(parsed.error());
  auto zone = std::make_shared<const TimeZone>(*std::move(parsed));
  loaded.zones.emplace(std::string(name), zone);
  return zone;
}

namespace {

// The changes of the rule in order, for two years on both sides of `time`. A change may be a week
// and a day outside of its year, so that one year is not enough.
struct RuleChange {
  sys_seconds at;
  std::int64_t offset_s = 0;
};

using RuleChanges = std::array<RuleChange, 10>;

RuleChanges changes_around(const ZoneRule& rule, sys_seconds time) {
  const sys_seconds inside(
      seconds(std::clamp(time.time_since_epoch().count(), -time_s_max, time_s_max)));
  const std::chrono::year_month_day date(std::chrono::floor<days>(inside));
  RuleChanges changes;
  std::size_t count = 0;
  // If two changes are at one moment (daylight-saving time all year), the one added last holds.
  const auto add = [&](const RuleChange& change) {
    std::size_t place = count++;
    for (; place > 0 && changes[place - 1].at > change.at; --place) {
      changes[place] = changes[place - 1];
    }
    changes[place] = change;
  };
  for (int year = static_cast<int>(date.year()) - 2; count < changes.size(); ++year) {
    add({rule.begins->in_year(year) - seconds(rule.standard_s), rule.daylight_s});
    add({rule.ends.in_year(year) - seconds(rule.daylight_s), rule.standard_s});
  }
  return changes;
}

}  // namespace

seconds TimeZone::offset_at(sys_seconds time) const noexcept {
  const std::int64_t at = time.time_since_epoch().count();
  const bool is_behind = transitions_.empty() || at >= transitions_.back().at;
  if (is_behind && rule_) {
    if (!rule_->begins) return seconds(rule_->standard_s);
    std::int64_t offset_s = rule_->standard_s;
    for (const RuleChange& change : changes_around(*rule_, time)) {
      if (change.at <= time) offset_s = change.offset_s;
    }
    return seconds(offset_s);
  }
  const auto next = std::ranges::upper_bound(transitions_, at, {}, &Transition::at);
  if (next == transitions_.begin()) return seconds(first_offset_s_);
  return seconds(std::prev(next)->offset_s);
}

sys_seconds TimeZone::change_after(sys_seconds time) const noexcept {
  const std::int64_t at = time.time_since_epoch().count();
  const auto next = std::ranges::upper_bound(transitions_, at, {}, &Transition::at);
  if (next != transitions_.end()) return sys_seconds(seconds(next->at));
  if (!rule_ || !rule_->begins || at >= time_s_max) return sys_seconds::max();
  const RuleChanges changes = changes_around(*rule_, time);
  return std::ranges::upper_bound(changes, time, {}, &RuleChange::at)->at;
}

sys_seconds TimeZone::to_utc(local_seconds local) const noexcept {
  const sys_seconds as_utc(local.time_since_epoch());
  for (sys_seconds begin = as_utc - around;;) {
    const sys_seconds change = change_after(begin);
    const sys_seconds time = as_utc - offset_at(begin);
    if (time < begin) return begin;  // skipped by the change at which this part begins
    if (time < change) return time;
    begin = change;
  }
}

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
