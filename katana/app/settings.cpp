#include "katana/app/settings.hpp"

KATANA_CONFIG_DEFINE_GROUP(katana::client::HttpClientOptions)
KATANA_CONFIG_DEFINE_GROUP(katana::app::HttpSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::app::AuthSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::app::BusSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::app::RedisSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::app::OperationsSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::app::LogSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::app::RequestSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::app::MonitorSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::app::PoolSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::app::ProcessSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::app::RestartSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::app::DatabaseSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::app::QueueSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::app::SessionSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::app::AuditSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::app::CacheSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::app::DocsSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::app::ApplicationSettings)
KATANA_CONFIG_DEFINE_GROUP(katana::app::SettingsWithDatabase)

// SPDX-License-Identifier: Apache-2.0
