#include "katana/app/settings.hpp"

#include "katana/app/settings_descriptions.hpp"

KATANA_APP_GROUPS_(KATANA_CONFIG_DEFINE_GROUP)

// SPDX-License-Identifier: Apache-2.0
