#include "katana/data/config/printer.hpp"

#include <algorithm>

#include "katana/data/config/scalar.hpp"

namespace katana::config {

namespace {

constexpr std::size_t comment_column = 40;

void append_comment(std::string& line, const std::string& comment) {
  line.resize(std::max(line.size() + 1, comment_column), ' ');
  line += "# " + comment;
}

// Prints "  port: 8080                # port to listen on". `before` stands in front; `text` may be
// empty.
void print_described(std::string& out, const std::string& before, Bytes name, Bytes value,
                     Bytes text) {
  std::string line = before;
  line += name;
  line += ':';
  if (!value.empty()) line += ' ' + std::string(value);
  if (!text.empty()) append_comment(line, std::string(text));
  out += line + '\n';
}

// Visits the elements of a constant container. REQUIRES that `visit` does not change them.
void look_into(const Container& container, const void* value, Visitor visit) {
  container.visit(const_cast<void*>(value), visit);
}

std::string write_group(const Group& group, const void* value, bool shown) {
  const ConstPlaces places(group, value);
  std::string text = "{";
  for (std::size_t index = 0; index < group.members.size(); ++index) {
    const Member& member = group.members[index];
    if (text.size() > 1) text += ", ";
    text += member.name;
    text += ": ";
    text += member.said.secret && !shown
                ? std::string(hidden_value)
                : write_value(member.type(), places[index], shown, member.said.byte_count);
  }
  return text + "}";
}

std::string write_container(const Type& type, const void* value, bool shown) {
  const bool is_list = type.kind == Type::Kind::list;
  const Type& element_type = type.container->element();
  std::string text = is_list ? "[" : "{";
  auto write = [&](Bytes key, const void* element) {
    if (text.size() > 1) text += ", ";
    if (!is_list) text += quoted_if_needed(key) + ": ";
    text += write_value(element_type, element, shown);
  };
  look_into(*type.container, value, Visitor(write));
  return text + (is_list ? "]" : "}");
}

// The value in an optional; null: it is empty.
const void* content_of(const Type& optional, const void* value) {
  const void* content = nullptr;
  auto take = [&content](Bytes, const void* held) { content = held; };
  look_into(*optional.container, value, Visitor(take));
  return content;
}

void print_group_defaults(std::string& out, const Group& group, const void* value,
                          const std::string& before);

// Prints the defaults of a struct in an optional or a dictionary.
void print_element_defaults(std::string& out, const Container& container,
                            const std::string& before) {
  auto print = [&](Bytes, const void* element) {
    print_group_defaults(out, *container.element().group, element, before);
  };
  container.make(nullptr, {}, Visitor(print));
}

// The comment of a member: "help; one of on, off; reloadable".
std::string meaning_of(const Member& member) {
  std::string text(member.help);
  const ScalarType* const scalar = member.type().without_optional().scalar;
  if (scalar != nullptr && !scalar->names.empty()) {
    text += (text.empty() ? "" : "; ") + scalar->words(*scalar);
  }
  if (member.said.reloadable) text += text.empty() ? "reloadable" : "; reloadable";
  return text;
}

void print_member_defaults(std::string& out, const Member& member, const void* value,
                           const std::string& before) {
  const Type& type = member.type();
  const std::string text = meaning_of(member);
  if (type.without_optional().kind == Type::Kind::group) {
    print_described(out, before, member.name, "", text);
    if (type.kind == Type::Kind::group) {
      print_group_defaults(out, *type.group, value, before + "  ");
    } else {
      print_element_defaults(out, *type.container, before + "  ");
    }
    return;
  }
  print_described(out, before, member.name, write_value(type, value, true, member.said.byte_count),
                  text);
  const Type& holder = type.without_optional();
  if (holder.kind != Type::Kind::dictionary) return;
  if (holder.container->element().kind != Type::Kind::group) return;
  print_described(out, before + "  # ", "NAME", "", "");
  print_element_defaults(out, *holder.container, before + "  #   ");
}

void print_group_defaults(std::string& out, const Group& group, const void* value,
                          const std::string& before) {
  const ConstPlaces places(group, value);
  for (std::size_t index = 0; index < group.members.size(); ++index) {
    print_member_defaults(out, group.members[index], places[index], before);
  }
}

}  // namespace

void Printing::line(Bytes name, Bytes value) {
  std::string out(depth * 2, ' ');
  out += quoted_if_needed(name);
  out += ':';
  if (!value.empty()) {
    const auto origin = origins.find(path);
    out += ' ';
    out += value;
    append_comment(out, (origin == origins.end() ? Origin() : origin->second).describe());
  }
  text += out + '\n';
}

std::string write_value(const Type& type, const void* value, bool shown, bool byte_count) {
  switch (type.kind) {
    case Type::Kind::scalar: return type.scalar->write(*type.scalar, byte_count, value);
    case Type::Kind::group: return write_group(*type.group, value, shown);
    case Type::Kind::list:
    case Type::Kind::dictionary: return write_container(type, value, shown);
    case Type::Kind::optional: break;
  }
  const void* const content = content_of(type, value);
  if (content == nullptr) return "null";
  return write_value(type.container->element(), content, shown, byte_count);
}

void print_group(Printing& printing, const Group& group, const void* value, bool secret) {
  const ConstPlaces places(group, value);
  for (std::size_t index = 0; index < group.members.size(); ++index) {
    const Member& member = group.members[index];
    const Type& type = member.type();
    const bool hide = secret || member.said.secret;
    const std::size_t size = printing.path.size();
    if (size != 0) printing.path += '.';
    printing.path += member.name;
    const Group* const inner = type.without_optional().group;
    const void* const place =
        type.kind == Type::Kind::optional ? content_of(type, places[index]) : places[index];
    if (inner == nullptr) {
      printing.line(member.name,
                    hide ? std::string(hidden_value)
                         : write_value(type, places[index], false, member.said.byte_count));
    } else if (place == nullptr) {
      printing.line(member.name, "null");
    } else {
      printing.line(member.name, "");
      ++printing.depth;
      print_group(printing, *inner, place, hide);
      --printing.depth;
    }
    printing.path.resize(size);
  }
}

std::string print_defaults(const Group& group, const void* value) {
  std::string out;
  print_group_defaults(out, group, value, "");
  return out;
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
