// Cache settings: what an Application keeps in memory so that it need not be found out again.
//
// Owns       values only.
// Thread     values.
// Allocates  as their options do.
// Fails      as Config does.
// Invariant  a change takes effect by a restart.
#pragma once

#include "katana/base/described.hpp"
#include "katana/host/option_descriptions.hpp"
#include "katana/service/middleware/http_cache.hpp"

namespace katana::host {

// Of the HttpCache in the registry, which a program puts in front of its routes.
struct HttpCacheSettings : HttpCacheOptions {
  HttpCacheSettings() { enabled = false; }
};
KATANA_DESCRIBE(
    HttpCacheSettings, (enabled, help("keep replies that say for how long they are good")),
    (bytes_max, byte_count, at_least(64 * 1024),
     help("memory, with all that is kept beside the replies")),
    (entries_max, range(16, 100'000'000), help("replies that are kept")),
    (reply_bytes_max, byte_count, help("content of one reply; larger ones are not kept")),
    (fresh_max, range(milliseconds(1), seconds(366 * 24 * 3600)),
     help("nothing is kept for longer, whatever its reply says")),
    (wait_max, option_rules::timeout, help("how long a request waits for the same of another one")),
    (waiting_max, help("requests that wait so; more go on to their handlers")),
    (private_fields, length(0, 64), each(length(1, 100)),
     help("header fields whose requests are never answered from it, and fill nothing")),
    (status_name, length(0, 64), help("name in Cache-Status; empty: the field is not sent")))

struct CacheSettings {
  HttpCacheSettings http;
};
KATANA_DESCRIBE(CacheSettings, http)

}  // namespace katana::host

// SPDX-License-Identifier: Apache-2.0
