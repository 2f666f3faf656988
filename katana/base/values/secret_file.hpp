// Secrets that a file has, such as a password.
//
// Owns       nothing.
// Thread     any; blocks while it reads.
// Allocates  the text.
// Fails      not_found, permission_denied, out_of_range above 64 KiB, invalid_argument for an empty
//            file; each names the file and shows nothing of what it has.
#pragma once

#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/secrets.hpp"

namespace katana {

// The whole of the file, without the white space around it.
Result<SecretText> read_secret_file(const std::string& path);

// The same as it stands, also if it is empty. The caller erases it (erase_secret()).
Result<std::string> read_file_of_secrets(const std::string& path);
// Without the white space around it.
Bytes without_blanks_around(Bytes text) noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
