// Settings parts: the groups of Settings that have their own headers, and their tables.
//
// Owns       values only.
// Thread     values.
// Allocates  as their options do.
// Fails      as Config does.
#pragma once

#include "katana/app/auth_settings.hpp"
#include "katana/app/cache_settings.hpp"
#include "katana/app/docs_settings.hpp"
#include "katana/app/idempotency_settings.hpp"
#include "katana/app/middleware_settings.hpp"
#include "katana/app/queue_settings.hpp"
#include "katana/app/redis_settings.hpp"
#include "katana/app/restart_settings.hpp"
#include "katana/app/security_settings.hpp"
#include "katana/data/config/compiled_group.hpp"

// The groups, whose tables settings_parts.cpp makes of settings_parts_descriptions.hpp.
#define KATANA_APP_PARTS_(EACH)                 \
  EACH(katana::app::BearerSettings)             \
  EACH(katana::app::AuthSettings)               \
  EACH(katana::app::RedisSettings)              \
  EACH(katana::app::RestartSettings)            \
  EACH(katana::sessions::MemoryStoreOptions)    \
  EACH(katana::app::CsrfSettings)               \
  EACH(katana::app::SecurityHeaderSettings)     \
  EACH(katana::app::SessionSettings)            \
  EACH(katana::app::AuditSettings)              \
  EACH(katana::app::QueueHandlerSettings)       \
  EACH(katana::app::QueueSettings)              \
  EACH(katana::app::DocsSettings)               \
  EACH(katana::app::HttpCacheSettings)          \
  EACH(katana::app::NamedCacheSettings)         \
  EACH(katana::app::CacheSettings)              \
  EACH(katana::idempotency::MemoryStoreOptions) \
  EACH(katana::app::IdempotencySettings)        \
  EACH(katana::app::RateLimitSettings)          \
  EACH(katana::app::ConcurrencySettings)        \
  EACH(katana::app::LoadSheddingSettings)
KATANA_APP_PARTS_(KATANA_CONFIG_DECLARE_GROUP)

// SPDX-License-Identifier: Apache-2.0
