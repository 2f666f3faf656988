#include "katana/host/settings.hpp"

KATANA_CONFIG_DEFINE_GROUP(katana::client::HttpClientOptions)
KATANA_CONFIG_DEFINE_GROUP(katana::host::HttpSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::host::AuthSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::host::BusSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::host::RedisSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::host::OperationsSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::host::LogSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::host::RequestSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::host::MonitorSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::host::PoolSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::host::ProcessSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::host::RestartSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::host::DatabaseSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::host::QueueSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::host::SessionSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::host::AuditSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::host::CacheSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::host::DocsSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::host::ApplicationSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::host::SettingsWithDatabase)

// SPDX-License-Identifier: Apache-2.0
