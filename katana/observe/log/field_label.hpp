// FieldLabel: what stands in front of a field's value, made once for each call site and for each
// record where the name is the record's own.
//
// Owns       its texts.
// Thread     any.
// Allocates  label_of() does; appending only when the buffer grows.
// Fails      never.
// Invariant  a name can neither end a line nor a JSON string, and in JSON it is none of the names
//            that every line has.
#pragma once

#include <string>

#include "katana/observe/log/plan.hpp"

namespace katana::log {

struct FieldLabel {
  std::string text;  // ` name=`
  std::string json;  // `,"name":`
};

// Appends ` name=`, with characters escaped that a line must not have.
void append_text_label(Bytes name, Buffer& out);
// Appends `,"name":`; a name that every line has gets another form.
void append_json_label(Bytes name, Buffer& out);
// Both forms of one name.
FieldLabel label_of(Bytes name);

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
