#include "katana/log/text_layout.hpp"

#include "katana/log/escape.hpp"

namespace katana::log {

namespace {

constexpr std::array<Bytes, 6> level_columns = {"trace ", "debug ", "info  ",
                                                "warn  ", "error ", "fatal "};
constexpr std::array<Bytes, 6> level_colours = {"\x1b[90m", "\x1b[36m", "\x1b[32m",
                                                "\x1b[33m", "\x1b[31m", "\x1b[1;31m"};
constexpr Bytes colour_end = "\x1b[0m";

bool needs_quotes(Bytes text) noexcept {
  return text.empty() || plain_prefix(text) != text.size() ||
         text.find_first_of(" =") != Bytes::npos;
}

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
  append_fields(entry.fields, out);
  out.push_back('\n');
}

void TextLayout::append_fields(std::span<const Value> fields, Buffer& out) {
  while (!fields.empty()) {
    out.push_back(' ');
    escape_line(fields.front().name, out);
    out.push_back('=');
    scratch_.clear();
    const std::size_t count = append_value(fields, scratch_);
    const Bytes text(scratch_.data(), scratch_.size());
    if (needs_quotes(text)) {
      out.push_back('"');
      escape_quoted(text, out);
      out.push_back('"');
    } else {
      append(out, text);
    }
    fields = fields.subspan(count);
  }
}

}  // namespace katana::log
