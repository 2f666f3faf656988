// Application: a program from its command line to its exit status. A database joins it by the
// header of its driver, katana/application_sqlite.hpp or katana/application_postgres.hpp. Further
// services of the registry need the header of their type: app::Authentication
// katana/application_auth.hpp, app::Caches katana/application_caches.hpp.
//
// Links      app
#pragma once

#include "katana/app/application_core.hpp"
#include "katana/stores/jobs/queue/job_queue.hpp"

// SPDX-License-Identifier: Apache-2.0
