// to_pprof().
#include <fmt/format.h>

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "katana/base/text/protobuf.hpp"
#include "katana/observe/profile/pprof.hpp"

namespace katana::profile {
namespace {

// The texts of a profile, each once.
class StringTable {
 public:
  StringTable() { (void)index_of(""); }
  std::uint64_t index_of(const std::string& text) {
    const auto [place, is_new] = indices_.try_emplace(text, texts_.size());
    if (is_new) texts_.push_back(text);
    return place->second;
  }
  void write(ProtobufWriter& out) const {
    for (const std::string& text : texts_) out.string(6, text, true);
  }

 private:
  std::map<std::string, std::uint64_t> indices_;
  std::vector<std::string> texts_;
};

class PprofWriter {
 public:
  explicit PprofWriter(const Profile& profile) : profile_(profile), out_(text_) {}

  std::string write() && {
    const detail::ValueTypes& types = detail::value_types_of(profile_.kind);
    const std::string kind(types.amount);
    const std::string unit(is_memory(profile_.kind) ? "bytes" : "nanoseconds");
    write_value_type(1, types.count, "count");
    write_value_type(1, kind, unit);
    for (const Found& each : profile_.found) write_sample(each);
    for (std::size_t index = 0; index < profile_.modules.size(); ++index) write_module(index);
    for (std::size_t index = 0; index < profile_.places.size(); ++index) write_place(index);
    write_functions();
    out_.varint(9, static_cast<std::uint64_t>(profile_.began_ns));
    out_.varint(10, static_cast<std::uint64_t>(profile_.took_ns));
    write_value_type(11, is_memory(profile_.kind) ? "space" : kind, unit);
    out_.varint(12, static_cast<std::uint64_t>(profile_.period_ns));
    write_comments();
    out_.varint(14, strings_.index_of(kind));
    strings_.write(out_);
    return std::move(text_);
  }

 private:
  // A function of pprof is a name in a file.
  using Function = std::pair<std::string, std::string>;

  void write_value_type(std::uint32_t field, const std::string& type, const std::string& unit) {
    const std::size_t begun = out_.begin(field);
    out_.varint(1, strings_.index_of(type));
    out_.varint(2, strings_.index_of(unit));
    out_.end(begun);
  }
  void write_label(const std::string& key, const std::string& value) {
    if (value.empty()) return;
    const std::size_t begun = out_.begin(3);
    out_.varint(1, strings_.index_of(key));
    out_.varint(2, strings_.index_of(value));
    out_.end(begun);
  }
  void write_sample(const Found& found) {
    const std::size_t begun = out_.begin(2);
    if (!found.places.empty()) {
      const std::size_t places = out_.begin(1);
      for (const std::size_t place : found.places) out_.raw_varint(place + 1);
      out_.end(places);
    }
    const std::size_t values = out_.begin(2);
    out_.raw_varint(static_cast<std::uint64_t>(found.count));
    out_.raw_varint(static_cast<std::uint64_t>(found.ns));
    out_.end(values);
    write_label("thread", found.labels.thread);
    write_label("route", found.labels.route);
    write_label("request_id", found.labels.request);
    write_label("trace_id", found.labels.trace);
    out_.end(begun);
  }
  // Readers look symbols up themselves unless a mapping says that it has them.
  bool is_symbolised(std::size_t module) const {
    for (const Place& place : profile_.places) {
      if (place.module == module && !place.lines.empty()) return true;
    }
    return false;
  }
  void write_module(std::size_t index) {
    const Module& module = profile_.modules[index];
    const std::size_t begun = out_.begin(3);
    out_.varint(1, index + 1);
    out_.varint(2, module.begin);
    out_.varint(3, module.end);
    out_.varint(4, module.file_offset);
    out_.varint(5, strings_.index_of(module.path));
    out_.varint(6, strings_.index_of(module.build_id));
    if (is_symbolised(index)) {
      for (std::uint32_t has = 7; has <= 10; ++has) out_.varint(has, 1);
    }
    out_.end(begun);
  }
  void write_place(std::size_t index) {
    const Place& place = profile_.places[index];
    const std::size_t begun = out_.begin(4);
    out_.varint(1, index + 1);
    if (place.module != no_module) out_.varint(2, place.module + 1);
    out_.varint(3, place.address);
    for (const Line& line : place.lines) {
      const std::size_t line_begun = out_.begin(4);
      const auto id = functions_.try_emplace({line.function, line.file}, functions_.size() + 1);
      out_.varint(1, id.first->second);
      out_.varint(2, line.line);
      out_.end(line_begun);
    }
    out_.end(begun);
  }
  void write_functions() {
    for (const auto& [function, id] : functions_) {
      const std::size_t begun = out_.begin(5);
      out_.varint(1, id);
      out_.varint(2, strings_.index_of(function.first));
      out_.varint(3, strings_.index_of(function.first));
      out_.varint(4, strings_.index_of(function.second));
      out_.end(begun);
    }
  }
  void write_comments() {
    std::vector<std::string> comments;
    if (!profile_.program.empty()) comments.push_back("program " + profile_.program);
    if (profile_.lost != 0) comments.push_back(fmt::format("lost {}", profile_.lost));
    if (profile_.threads_left_out != 0) {
      comments.push_back(fmt::format("threads_left_out {}", profile_.threads_left_out));
    }
    for (std::size_t index = 0; index < profile_.modules.size(); ++index) {
      const std::uint64_t bias = profile_.modules[index].bias;
      if (bias != 0) comments.push_back(fmt::format("bias {} 0x{:x}", index + 1, bias));
    }
    if (comments.empty()) return;
    const std::size_t begun = out_.begin(13);
    for (const std::string& comment : comments) out_.raw_varint(strings_.index_of(comment));
    out_.end(begun);
  }

  const Profile& profile_;
  std::string text_;
  ProtobufWriter out_;
  StringTable strings_;
  std::map<Function, std::uint64_t> functions_;
};

}  // namespace

const detail::ValueTypes& detail::value_types_of(Kind kind) {
  static const std::array<ValueTypes, 4> all = {ValueTypes{"samples", "cpu"},
                                                {"samples", "waiting"},
                                                {"alloc_objects", "alloc_space"},
                                                {"inuse_objects", "inuse_space"}};
  return all[static_cast<std::size_t>(kind)];
}

std::string to_pprof(const Profile& profile) { return PprofWriter(profile).write(); }

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
