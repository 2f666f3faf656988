#include "katana/observe/log/binary_layout.hpp"

#include <algorithm>
#include <cstring>

#include "katana/observe/log/binary_format.hpp"

namespace katana::log {

namespace {

template <class Number>
void put_number(Number number, Buffer& out) {
  const char* const octets = reinterpret_cast<const char*>(&number);
  out.append(octets, octets + sizeof number);
}

void put_text(Bytes text, Buffer& out) {
  put_number(static_cast<std::uint32_t>(text.size()), out);
  append(out, text);
}

// Writes the head of a frame when it begins, and its size when it ends.
class Frame {
 public:
  Frame(FrameType type, Buffer& out) : out_(out), begin_(out.size()) {
    put_number(std::uint32_t{0}, out);
    put_number(type, out);
  }
  ~Frame() {
    const auto size = static_cast<std::uint32_t>(out_.size() - begin_ - frame_head_bytes);
    std::memcpy(out_.data() + begin_, &size, sizeof size);
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

 private:
  Buffer& out_;
  const std::size_t begin_;
};

struct ContextEntry {
  const char* name;
  Kind kind;
  Bytes value;  // as captured
};

// Calls `use` with each entry of a context in a ring.
template <class Use>
void for_each_entry(Bytes context, const Use& use) {
  while (!context.empty()) {
    ContextEntry entry{};
    std::memcpy(&entry.name, context.data(), sizeof entry.name);
    entry.kind = static_cast<Kind>(context[sizeof entry.name]);
    context.remove_prefix(sizeof entry.name + 1);
    const Bytes begin = context;
    Decoder::take(entry.kind, context);
    entry.value = begin.substr(0, begin.size() - context.size());
    use(entry);
  }
}

}  // namespace

void BinaryLayout::begin(Buffer& out) {
  known_sites_.clear();
  known_names_.clear();
  const Frame frame(FrameType::session, out);
  append(out, session_magic);
}

void BinaryLayout::add(const Entry& entry, Buffer& out) {
  const Site& site = *entry.site;
  if (site.id >= known_sites_.size() || !known_sites_[site.id]) append_site(site, out);
  if (!entry.raw_context.empty()) define_names(entry.raw_context, out);
  // In one piece: this is the whole work for a record, and there may be millions.
  struct [[gnu::packed]] Head {
    std::uint32_t bytes;
    FrameType type;
    std::uint32_t site;
    std::uint32_t thread;
    std::int64_t wall_ns;
    std::uint16_t context_bytes;
  };
  static_assert(sizeof(Head) == frame_head_bytes + record_head_bytes);
  const std::size_t at = out.size();
  const std::size_t arguments = entry.raw_arguments.size();
  out.resize(at + sizeof(Head) + arguments);
  Head head = {static_cast<std::uint32_t>(record_head_bytes + arguments),
               FrameType::record,
               site.id,
               entry.thread_id,
               entry.wall_ns,
               0};
  if (!entry.raw_context.empty()) {
    append_context(entry.raw_context, out);
    head.context_bytes = static_cast<std::uint16_t>(out.size() - at - sizeof head - arguments);
    head.bytes += head.context_bytes;
  }
  std::memcpy(out.data() + at, &head, sizeof head);
  std::memcpy(out.data() + at + sizeof head, entry.raw_arguments.data(), arguments);
}

// Reads only the sizes of the frames: quick, and a file that is damaged elsewhere stays unchanged.
std::size_t BinaryLayout::whole_bytes(Bytes file) const {
  std::size_t at = 0;
  while (file.size() - at >= frame_head_bytes) {
    std::uint32_t size = 0;
    std::memcpy(&size, file.data() + at, sizeof size);
    if (size > frame_bytes_max) return file.size();
    if (size > file.size() - at - frame_head_bytes) break;
    at += frame_head_bytes + size;
  }
  return file.substr(std::min(frame_head_bytes, file.size())).starts_with(session_magic)
             ? at
             : file.size();
}

void BinaryLayout::append_site(const Site& site, Buffer& out) {
  if (site.id >= known_sites_.size()) known_sites_.resize(site.id + 1);
  known_sites_[site.id] = true;
  const Frame frame(FrameType::site, out);
  put_number(site.id, out);
  put_number(site.level, out);
  put_number(site.line, out);
  put_number(static_cast<std::uint16_t>(site.slots.size()), out);
  put_number(site.positional_slots, out);
  put_number(static_cast<std::uint16_t>(site.field_names.size()), out);
  for (const Slot& slot : site.slots) {
    put_number(slot.kind, out);
    put_text(slot.name, out);
  }
  for (const Bytes name : site.field_names) put_text(name, out);
  for (const Bytes text : {site.logger, site.pattern, site.file, site.function}) {
    put_text(text, out);
  }
}

void BinaryLayout::define_names(Bytes context, Buffer& out) {
  for_each_entry(context, [&](const ContextEntry& entry) {
    const auto [found, added] =
        known_names_.try_emplace(entry.name, static_cast<std::uint32_t>(known_names_.size()));
    if (!added) return;
    const Frame frame(FrameType::name, out);
    put_number(found->second, out);
    append(out, entry.name);
  });
}

void BinaryLayout::append_context(Bytes context, Buffer& out) {
  for_each_entry(context, [&](const ContextEntry& entry) {
    put_number(known_names_[entry.name], out);
    put_number(entry.kind, out);
    append(out, entry.value);
  });
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
