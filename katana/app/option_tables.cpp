#include "katana/app/option_tables.hpp"

#include "katana/app/option_descriptions.hpp"

KATANA_APP_OPTION_GROUPS_(KATANA_CONFIG_DEFINE_GROUP)

// SPDX-License-Identifier: Apache-2.0
