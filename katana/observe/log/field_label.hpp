// FieldLabel: the text in front of a field's value. It is made once for each call site, or for each
// record if the name belongs to the record.
//
// Owns       its texts.
// Thread     any.
// Allocates  label_of() does; appending only when the buffer grows.
// Fails      never.
// Invariant  a name can neither end a line nor a JSON string. In JSON it differs from the names
//            that every line has.
#pragma once

#include <string>

#include "katana/observe/log/plan.hpp"

namespace katana::log {

struct FieldLabel {
  std::string text;  // ` name=`
  std::string json;  // `,"name":`
};

// Appends ` name=`, and escapes characters that a line must not have.
void append_text_label(Bytes name, Buffer& out);
// Appends `,"name":`; a name that every line has gets another form.
void append_json_label(Bytes name, Buffer& out);
// Both forms of one name.
FieldLabel label_of(Bytes name);

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
