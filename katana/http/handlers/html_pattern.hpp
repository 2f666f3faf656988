// HtmlScanner: finds the places of {} in the HTML of a pattern, while the program is compiled.
//
// Follows the tokenizer of the HTML standard (§13.2.5) as far as a pattern needs. It knows text,
// tags, attributes, comments, and the elements whose content is no markup. It refuses unknown
// constructs.
//
// Owns       nothing.
// Borrows    the pattern.
// Thread     any.
// Allocates  never.
// Fails      the program does not compile; the error points at the throw with the reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::detail {

enum class HtmlArgument : std::uint8_t { value, url, markup };

class HtmlScanner {
 public:
  constexpr explicit HtmlScanner(Bytes pattern) : rest_(pattern) {}

  // Continues to the next {}, and checks whether the argument may stand there.
  constexpr void take_argument(HtmlArgument argument) {
    while (!rest_.starts_with("{}")) {
      if (rest_.empty()) throw "html: there are more arguments than {}";
      step();
    }
    rest_.remove_prefix(2);
    if (state_ == State::text || state_ == State::plain_text) {
      if (state_ == State::plain_text && argument == HtmlArgument::markup) {
        throw "html: markup in <title> or <textarea>, where it is shown as text";
      }
      return;
    }
    if (state_ == State::raw_text) throw "html: {} in <script> or <style>: escaping does not help";
    if (state_ == State::comment) throw "html: {} in a comment or <!…>";
    if (state_ != State::in_quotes) throw "html: {} in a tag outside of quotes: quote it";
    if (argument == HtmlArgument::markup) throw "html: markup in an attribute";
    if (is_code_attribute()) throw "html: {} in an attribute that is code: on…, style, srcdoc";
    // A SafeUrl may be empty: the text directly behind it then begins the URL, too.
    if (is_value_begun_ || argument == HtmlArgument::url || !is_url_attribute()) return;
    throw "html: a URL that begins with {} is a katana::SafeUrl";
  }
  constexpr void finish() {
    while (!rest_.empty()) {
      if (rest_.starts_with("{}")) throw "html: there are more {} than arguments";
      step();
    }
    if (state_ != State::text) throw "html: a tag, comment or <script> that does not end";
  }

 private:
  enum class State : std::uint8_t {
    text,
    plain_text,  // of <title> and <textarea>: references count, tags do not
    raw_text,    // of <script> and <style>
    tag_name,
    in_tag,
    attribute_name,
    before_value,
    in_quotes,
    bare_value,
    comment,
  };

  static constexpr bool is_space(char c) { return Bytes(" \t\n\r\f").contains(c); }
  static constexpr char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  static constexpr bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
  // `names`: with a space between them.
  static constexpr bool is_one_of(Bytes name, Bytes names) {
    while (!names.empty()) {
      const std::size_t end = names.find(' ');
      const Bytes each = names.substr(0, end);
      bool same = each.size() == name.size();
      for (std::size_t at = 0; same && at < each.size(); ++at) {
        same = lower(name[at]) == lower(each[at]);
      }
      if (same) return true;
      names.remove_prefix(end == Bytes::npos ? names.size() : end + 1);
    }
    return false;
  }
  constexpr bool is_url_attribute() const {
    return is_one_of(attribute_,
                     "href src action formaction poster data cite background ping manifest "
                     "longdesc usemap codebase classid profile icon srcset imagesrcset xlink:href");
  }
  constexpr bool is_code_attribute() const {
    return is_one_of(attribute_, "style srcdoc") ||
           (attribute_.size() > 2 && lower(attribute_[0]) == 'o' && lower(attribute_[1]) == 'n');
  }

  // One byte, or a pair of braces.
  constexpr void step() {
    const char c = rest_.front();
    if (c == '{' || c == '}') {
      if (rest_.size() < 2 || rest_[1] != c) throw "html: a brace alone: write {{ or }}, or {}";
      rest_.remove_prefix(1);
    }
    switch (state_) {
      case State::text: begin_tag(c); break;
      case State::plain_text:
      case State::raw_text: end_element(); break;
      case State::comment: end_comment(c); break;
      default: step_in_tag(c); break;
    }
    rest_.remove_prefix(1);
  }
  constexpr void begin_tag(char c) {
    if (c != '<' || rest_.size() < 2) {
      if (c == '<') throw "html: the pattern ends with <";
      return;
    }
    const char next = rest_[1];
    is_end_tag_ = next == '/';
    if (next == '!' || next == '?') return begin_comment();
    if (is_end_tag_) {
      rest_.remove_prefix(1);
      if (rest_.size() < 2 || !is_letter(rest_[1])) throw "html: </ without a name";
    }
    if (is_end_tag_ || is_letter(next)) {
      tag_ = rest_.substr(1, 0);
      state_ = State::tag_name;
    } else if (next == '{' && !rest_.substr(1).starts_with("{{")) {
      throw "html: {} as the name of a tag";
    }
  }
  constexpr void begin_comment() {
    is_comment_ = rest_.starts_with("<!--");
    state_ = State::comment;
    if (rest_.starts_with("<![")) throw "html: <![ is no HTML";
    if (!is_comment_) return;
    rest_.remove_prefix(3);
    if (rest_.starts_with("->") || rest_.starts_with("-->"))
      throw "html: a comment that is cut short";
  }
  constexpr void end_comment(char c) {
    if (c == '>' && !is_comment_) state_ = State::text;
    if (is_comment_ && rest_.starts_with("--!>")) throw "html: a comment ends with -->";
    if (is_comment_ && rest_.starts_with("-->")) {
      rest_.remove_prefix(2);
      state_ = State::text;
    }
  }
  // An element whose content is no markup ends at its own end tag.
  constexpr void end_element() {
    const Bytes behind = rest_.starts_with("</") ? rest_.substr(2) : Bytes();
    const bool is_end =
        behind.size() > tag_.size() && is_one_of(behind.substr(0, tag_.size()), tag_) &&
        (is_space(behind[tag_.size()]) || Bytes("/>").contains(behind[tag_.size()]));
    // Its meaning in <svg> is not considered.
    if (!is_end && state_ == State::plain_text && rest_.starts_with('<')) {
      throw "html: < in <title> or <textarea>";
    }
    if (!is_end) return;
    rest_.remove_prefix(1);
    tag_ = rest_.substr(1, 0);
    is_end_tag_ = true;
    state_ = State::tag_name;
  }
  constexpr void end_tag() {
    state_ = State::text;
    if (is_end_tag_) return;
    if (is_one_of(tag_, "script style xmp iframe noembed noframes noscript plaintext")) {
      state_ = State::raw_text;
    }
    if (is_one_of(tag_, "title textarea")) state_ = State::plain_text;
  }
  constexpr void step_in_tag(char c) {
    if (state_ == State::in_quotes) {
      if (c == quote_) {
        state_ = State::in_tag;
      } else {
        is_value_begun_ = is_value_begun_ || !is_space(c);
      }
      return;
    }
    if (c == '>') return end_tag();
    if (state_ == State::tag_name) {
      if (is_space(c) || c == '/') {
        state_ = State::in_tag;
      } else {
        tag_ = Bytes(tag_.data(), tag_.size() + 1);
      }
    } else if (is_space(c)) {
      if (state_ == State::bare_value) state_ = State::in_tag;
    } else if (c == '=' && state_ == State::attribute_name) {
      state_ = State::before_value;
    } else if (state_ == State::before_value) {
      quote_ = c;
      state_ = c == '"' || c == '\'' ? State::in_quotes : State::bare_value;
      is_value_begun_ = false;
    } else if (c == '/' && state_ != State::bare_value) {
      state_ = State::in_tag;
    } else if (state_ == State::attribute_name && !is_space(rest_.data()[-1])) {
      attribute_ = Bytes(attribute_.data(), attribute_.size() + 1);
    } else if (state_ != State::bare_value) {
      attribute_ = rest_.substr(0, 1);
      state_ = State::attribute_name;
    }
  }

  Bytes rest_;
  Bytes tag_;
  Bytes attribute_;
  State state_ = State::text;
  char quote_ = '"';
  bool is_end_tag_ = false;
  bool is_comment_ = false;      // else it is <!…>
  bool is_value_begun_ = false;  // of the attribute
};

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
