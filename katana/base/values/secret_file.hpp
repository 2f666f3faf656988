// Reads secrets from files, such as a password.
//
// Owns       nothing.
// Thread     any; blocks while it reads.
// Allocates  the text.
// Fails      not_found, permission_denied, out_of_range above 64 KiB, invalid_argument for an empty
//            file. Each Error names the file, and shows nothing of its content.
#pragma once

#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/secrets.hpp"

namespace katana {

// Reads the whole file, without the white space around it.
Result<SecretText> read_secret_file(const std::string& path);

// Reads the whole file unchanged, which may be empty. The caller erases it (erase_secret()).
Result<std::string> read_file_of_secrets(const std::string& path);
// The text without the white space around it.
Bytes without_blanks_around(Bytes text) noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
