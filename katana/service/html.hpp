// Text in pages of HTML.
//
// Owns       nothing.
// Thread     any.
// Allocates  the result.
// Fails      never.
#pragma once

#include <string>

#include "katana/base/bytes.hpp"

namespace katana {

// & < > " ' as character references, for text between tags and in quoted attributes. Not for what
// stands in <script> or <style>, in an attribute without quotes, or for the scheme of a URL.
std::string escape_html(Bytes text);
void append_html(std::string& to, Bytes text);

}  // namespace katana
