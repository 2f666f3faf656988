#include "katana/observe/log/text_layout.hpp"

#include "katana/observe/log/escape.hpp"
#include "katana/observe/log/field_label.hpp"

namespace katana::log {

namespace {

constexpr std::array<Bytes, 6> level_columns = {"trace ", "debug ", "info  ",
                                                "warn  ", "error ", "fatal "};
constexpr std::array<Bytes, 6> level_colours = {"\x1b[90m", "\x1b[36m", "\x1b[32m",
                                                "\x1b[33m", "\x1b[31m", "\x1b[1;31m"};
constexpr Bytes colour_end = "\x1b[0m";

}  // namespace

void TextLayout::append_level(Level level, Buffer& out) const {
  const auto index = static_cast<std::size_t>(level);
  if (coloured_) append(out, level_colours[index]);
  append(out, level_columns[index]);
  if (coloured_) append(out, colour_end);
}

void TextLayout::add(const Entry& entry, Buffer& out) {
  append(out, time_.text(entry.wall_ns));
  out.push_back(' ');
  append_level(entry.site->level, out);
  if (!entry.site->logger.empty()) {
    append(out, entry.site->logger);
    append(out, ": ");
  }
  entry.site->plan.format_escaped(entry.arguments, out, scratch_, escape_line);
  append_fields(entry, out);
  out.push_back('\n');
}

void TextLayout::append_fields(const Entry& entry, Buffer& out) {
  std::size_t index = 0;
  for (std::span<const Value> fields = entry.fields; !fields.empty(); ++index) {
    if (index < entry.site->labels.size()) [[likely]]
      append(out, entry.site->labels[index].text);
    else
      append_text_label(fields.front().name, out);
    fields = fields.subspan(append_field(fields, out));
  }
}

// Nearly every field is a number or one word, and is written at once.
std::size_t TextLayout::append_field(std::span<const Value> values, Buffer& out) {
  const Value& value = values.front();
  const bool is_number = value.kind == Kind::signed_integer || value.kind == Kind::unsigned_integer;
  if (is_number || (value.kind == Kind::text && !value.cut && is_word(value.text))) {
    return append_value(values, out);
  }
  scratch_.clear();
  const std::size_t count = append_value(values, scratch_);
  const Bytes text(scratch_.data(), scratch_.size());
  if (is_word(text)) {
    append(out, text);
  } else {
    out.push_back('"');
    escape_quoted(text, out);
    out.push_back('"');
  }
  return count;
}

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
