// from_pprof().
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/text/protobuf.hpp"
#include "katana/observe/profile/pprof.hpp"

namespace katana::profile {
namespace {

constexpr std::int64_t sum_max = std::numeric_limits<std::int64_t>::max();

// The numbers of a repeated field, packed or not.
bool take_numbers(const ProtobufReader& field, std::vector<std::uint64_t>& numbers) {
  Bytes rest = field.bytes();
  if (!field.has_length()) {
    numbers.push_back(field.value());
    return true;
  }
  while (!rest.empty()) {
    std::uint64_t number = 0;
    unsigned shift = 0;
    bool whole = false;
    while (!rest.empty() && shift < 64 && !whole) {
      const auto digit = static_cast<std::uint8_t>(rest.front());
      rest.remove_prefix(1);
      number |= std::uint64_t{digit & 0x7fu} << shift;
      shift += 7;
      whole = digit < 0x80;
    }
    if (!whole) return false;
    numbers.push_back(number);
  }
  return true;
}

class PprofReader {
 public:
  explicit PprofReader(Bytes message) : message_(message) {}

  Result<Profile> read() && {
    if (!sort_fields()) return refuse("profile");
    if (!read_kind()) return refuse("sample_type");
    if (!read_functions()) return refuse("function");
    if (!read_modules()) return refuse("mapping");
    if (!read_places()) return refuse("location");
    if (!read_comments()) return refuse("comment");
    if (!read_samples()) return refuse("sample");
    return std::move(profile_);
  }

 private:
  using Ids = std::map<std::uint64_t, std::size_t>;  // of the file, to indices

  static std::unexpected<Error> refuse(Bytes what) {
    return fail(Code::invalid_argument, fmt::format("no profile of pprof: bad {}", what));
  }
  // The string table may stand behind its users.
  bool sort_fields() {
    ProtobufReader in(message_);
    while (in.next()) {
      switch (in.number()) {
        case 1: types_.push_back(in.bytes()); break;
        case 2: samples_.push_back(in.bytes()); break;
        case 3: mappings_.push_back(in.bytes()); break;
        case 4: locations_.push_back(in.bytes()); break;
        case 5: functions_.push_back(in.bytes()); break;
        case 6: texts_.push_back(in.bytes()); break;
        case 9: profile_.began_ns = static_cast<std::int64_t>(in.value()); break;
        case 10: profile_.took_ns = static_cast<std::int64_t>(in.value()); break;
        case 12: profile_.period_ns = static_cast<std::int64_t>(in.value()); break;
        case 13:
          if (!take_numbers(in, comments_)) return false;
          break;
        default: break;
      }
    }
    return in.is_good() && !texts_.empty() && texts_.front().empty();
  }
  bool text(std::uint64_t index, std::string& to) const {
    if (index >= texts_.size()) return false;
    to = texts_[index];
    return true;
  }
  bool read_kind() {
    if (types_.size() != 2) return false;
    ProtobufReader in(types_[1]);
    std::string type;
    while (in.next()) {
      if (in.number() == 1 && !text(in.value(), type)) return false;
    }
    for (const Kind kind : {Kind::cpu, Kind::waiting, Kind::allocations, Kind::growth}) {
      if (detail::value_types_of(kind).amount != type) continue;
      profile_.kind = kind;
      return in.is_good();
    }
    return false;
  }
  bool read_functions() {
    for (const Bytes message : functions_) {
      ProtobufReader in(message);
      std::uint64_t id = 0;
      Line line;
      while (in.next()) {
        if (in.number() == 1) id = in.value();
        if (in.number() == 2 && !text(in.value(), line.function)) return false;
        if (in.number() == 4 && !text(in.value(), line.file)) return false;
      }
      if (!in.is_good() || id == 0) return false;
      if (!function_ids_.try_emplace(id, lines_.size()).second) return false;
      lines_.push_back(std::move(line));
    }
    return true;
  }
  bool read_modules() {
    for (const Bytes message : mappings_) {
      ProtobufReader in(message);
      std::uint64_t id = 0;
      Module module;
      while (in.next()) {
        switch (in.number()) {
          case 1: id = in.value(); break;
          case 2: module.begin = in.value(); break;
          case 3: module.end = in.value(); break;
          case 4: module.file_offset = in.value(); break;
          case 5:
            if (!text(in.value(), module.path)) return false;
            break;
          case 6:
            if (!text(in.value(), module.build_id)) return false;
            break;
          default: break;
        }
      }
      if (!in.is_good() || id == 0) return false;
      if (!module_ids_.try_emplace(id, profile_.modules.size()).second) return false;
      profile_.modules.push_back(std::move(module));
    }
    return true;
  }
  bool read_line(Bytes message, Place& place) {
    ProtobufReader in(message);
    std::uint64_t function = 0, number = 0;
    while (in.next()) {
      if (in.number() == 1) function = in.value();
      if (in.number() == 2) number = in.value();
    }
    const auto found = function_ids_.find(function);
    if (!in.is_good() || found == function_ids_.end() || number > UINT32_MAX) return false;
    place.lines.push_back(lines_[found->second]);
    place.lines.back().line = static_cast<std::uint32_t>(number);
    return true;
  }
  bool read_places() {
    for (const Bytes message : locations_) {
      ProtobufReader in(message);
      std::uint64_t id = 0, mapping = 0;
      Place place;
      while (in.next()) {
        switch (in.number()) {
          case 1: id = in.value(); break;
          case 2: mapping = in.value(); break;
          case 3: place.address = in.value(); break;
          case 4:
            if (!read_line(in.bytes(), place)) return false;
            break;
          default: break;
        }
      }
      if (!in.is_good() || id == 0) return false;
      if (mapping != 0) {
        const auto found = module_ids_.find(mapping);
        if (found == module_ids_.end()) return false;
        place.module = found->second;
      }
      if (!place_ids_.try_emplace(id, profile_.places.size()).second) return false;
      profile_.places.push_back(std::move(place));
    }
    return true;
  }
  bool read_comments() {
    for (const std::uint64_t index : comments_) {
      std::string comment;
      if (!text(index, comment)) return false;
      if (comment.starts_with("program ")) profile_.program = comment.substr(8);
      if (comment.starts_with("lost ")) read_number(comment, 5, 10, profile_.lost);
      if (comment.starts_with("threads_left_out ")) {
        read_number(comment, 17, 10, profile_.threads_left_out);
      }
      if (!comment.starts_with("bias ")) continue;
      std::uint64_t id = 0, bias = 0;
      const std::size_t second = comment.find(" 0x", 5);
      if (second == std::string::npos || !read_number(comment, 5, 10, id) ||
          !read_number(comment, second + 3, 16, bias)) {
        continue;  // of another program
      }
      const auto found = module_ids_.find(id);
      if (found != module_ids_.end()) profile_.modules[found->second].bias = bias;
    }
    return true;
  }
  static bool read_number(const std::string& in, std::size_t at, int base, std::uint64_t& number) {
    return std::from_chars(in.data() + at, in.data() + in.size(), number, base).ec == std::errc();
  }
  bool read_label(Bytes message, Labels& labels) const {
    ProtobufReader in(message);
    std::string key, value;
    while (in.next()) {
      if (in.number() == 1 && !text(in.value(), key)) return false;
      if (in.number() == 2 && !text(in.value(), value)) return false;
    }
    if (key == "thread") labels.thread = value;
    if (key == "route") labels.route = value;
    if (key == "request_id") labels.request = value;
    if (key == "trace_id") labels.trace = value;
    return in.is_good();
  }
  // A negative number has the highest bit.
  static bool add_to_sum(std::uint64_t value, std::int64_t& sum, std::int64_t& to) {
    if (value > static_cast<std::uint64_t>(sum_max - sum)) return false;
    to = static_cast<std::int64_t>(value);
    sum += to;
    return true;
  }
  bool read_samples() {
    std::int64_t counts = 0, times = 0;
    for (const Bytes message : samples_) {
      ProtobufReader in(message);
      std::vector<std::uint64_t> ids, values;
      Found found;
      while (in.next()) {
        if (in.number() == 1 && !take_numbers(in, ids)) return false;
        if (in.number() == 2 && !take_numbers(in, values)) return false;
        if (in.number() == 3 && !read_label(in.bytes(), found.labels)) return false;
      }
      if (!in.is_good() || values.size() != 2) return false;
      if (!add_to_sum(values[0], counts, found.count)) return false;
      if (!add_to_sum(values[1], times, found.ns)) return false;
      for (const std::uint64_t id : ids) {
        const auto place = place_ids_.find(id);
        if (place == place_ids_.end()) return false;
        found.places.push_back(place->second);
      }
      profile_.found.push_back(std::move(found));
    }
    return true;
  }

  const Bytes message_;
  Profile profile_;
  std::vector<Bytes> types_, samples_, mappings_, locations_, functions_, texts_;
  std::vector<std::uint64_t> comments_;
  std::vector<Line> lines_;  // of functions; their numbers are of places
  Ids function_ids_, module_ids_, place_ids_;
};

}  // namespace

Result<Profile> from_pprof(Bytes message) {
  if (message.size() > pprof_bytes_max) {
    return fail(Code::invalid_argument,
                fmt::format("no profile of pprof: more than {} bytes", pprof_bytes_max));
  }
  return PprofReader(message).read();
}

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
