// Digests, HMAC, HKDF and authenticated encryption.
//
// Links      base/crypto
#pragma once

#include "katana/base/crypto/aead.hpp"
#include "katana/base/crypto/digest.hpp"

// SPDX-License-Identifier: Apache-2.0
