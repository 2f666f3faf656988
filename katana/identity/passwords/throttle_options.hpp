// ThrottleOptions: the limits of login attempts, and of the memory for them (login_throttle.hpp).
//
// Owns       values only.
// Thread     a value.
#pragma once

#include <cstddef>

#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::passwords {

struct ThrottleOptions {
  unsigned account_free_failures = 5;  // failures in a row, of an account from one network
  // Failures of a network. It is larger, because many users may share a network.
  unsigned address_free_failures = 20;
  // Failures of an account from all networks. The default is the limit of NIST SP 800-63B.
  unsigned account_free_failures_everywhere = 100;
  Duration wait_min = seconds(1);
  Duration wait_max = seconds(300);
  Duration forget_after = seconds(3600);
  Duration known_for = seconds(30 * 24 * 3600);
  std::size_t accounts_max = 64 * 1024;
  std::size_t addresses_max = 64 * 1024;
};
// The description for the settings of a program.
KATANA_DESCRIBE(ThrottleOptions,
                (account_free_failures, range(1, 1000),
                 help("wrong passwords of one account from one network before it has to wait")),
                (address_free_failures, range(1, 100'000),
                 help("the same of one network, whatever the accounts")),
                (account_free_failures_everywhere, range(1, 100'000),
                 help("the same of one account, from networks that it has not logged in from")),
                (wait_min, range(milliseconds(1), seconds(3600)),
                 help("the first wait; it doubles")),
                (wait_max, range(milliseconds(1), seconds(24 * 3600)), help("and is no longer")),
                (forget_after, range(seconds(1), seconds(7 * 24 * 3600)),
                 help("without a failure for so long it begins anew")),
                (known_for, range(seconds(1), seconds(400 * 24 * 3600)),
                 help("how long a network that an account has logged in from is known")),
                (accounts_max, range(1, 1 << 24),
                 help("accounts, and pairs of account and network, that are remembered")),
                (addresses_max, range(1, 1 << 24), help("networks that are remembered")))

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
