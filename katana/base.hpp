// Values, results and tasks, which every module uses. Described structs, Patch, Box,
// Uuid, Timestamp, Decimal, Secret, IpAddress; Result and Error; Task and waits for several tasks.
//
// Links      base
#pragma once

#include "katana/base/coroutine/deadline.hpp"
#include "katana/base/coroutine/synchronization.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/base/coroutine/when.hpp"
#include "katana/base/system/cpus.hpp"
#include "katana/base/system/printing.hpp"
#include "katana/base/system/propagate.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"
#include "katana/base/text/utf8.hpp"
#include "katana/base/values/any_of.hpp"
#include "katana/base/values/base64.hpp"
#include "katana/base/values/box.hpp"
#include "katana/base/values/decimal.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/described_variant.hpp"
#include "katana/base/values/duration_text.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/ip_address.hpp"
#include "katana/base/values/patch.hpp"
#include "katana/base/values/random.hpp"
#include "katana/base/values/rules.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/base/values/text_form.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/base/values/uuid.hpp"

// SPDX-License-Identifier: Apache-2.0
