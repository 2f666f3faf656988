// Application, with all services of its registry, for tests and parts of this project. Users
// include katana/application.hpp, and the headers of the services that they take from the registry.
#pragma once

#include "katana/app/application_core.hpp"
#include "katana/app/application_jobs.hpp"
#include "katana/app/authentication.hpp"
#include "katana/app/caches.hpp"
#include "katana/app/embedding.hpp"
#include "katana/app/idempotency_keys.hpp"
#include "katana/app/insecure_settings.hpp"
#include "katana/app/pools.hpp"
#include "katana/app/process_rules.hpp"
#include "katana/app/startup.hpp"
#include "katana/app/statement_telemetry.hpp"
#include "katana/http/forms/form.hpp"
#include "katana/http/middleware/concurrency_limit.hpp"
#include "katana/http/middleware/csrf.hpp"
#include "katana/http/middleware/http_cache.hpp"
#include "katana/http/middleware/load_shedding.hpp"
#include "katana/http/middleware/rate_limit.hpp"
#include "katana/http/middleware/security_headers.hpp"
#include "katana/http/server/failure_log.hpp"
#include "katana/http/server/observability.hpp"
#include "katana/http/server/operations.hpp"
#include "katana/http/server/request_telemetry.hpp"
#include "katana/identity/sessions/memory_store.hpp"
#include "katana/observe/audit/audit_log.hpp"
#include "katana/openapi/document/docs_page.hpp"
#include "katana/stores/jobs/queue/queue_worker.hpp"

// SPDX-License-Identifier: Apache-2.0
