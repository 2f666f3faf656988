// add_queue_pages(): the job queue as pages of operations, in JSON.
//
//   GET    /queues                            each queue: ready, delayed, running, dead, waited_us
//   GET    /queues/{queue}/{state}            its jobs: waiting, running, done, dead; ?after=ID,
//                                             ?count=100
//   POST   /queues/{queue}/dead/retry         all dead letters wait again, 1,000 in a call
//   POST   /queues/{queue}/dead/{id}/retry    one of them does
//   DELETE /queues/{queue}/jobs/{id}          a job that does not run is gone
//
// Owns       the names.
// Borrows    the queue, which outlives the service.
// Thread     any reactor's.
// Allocates  replies.
// Fails      404 for a queue that is none of `names` and for a job that does not exist. 409 when
//            another job has a dead letter's key; 503 while the database does not answer.
// Invariant  a request that changes something is refused when a page of another origin sends it.
#pragma once

#include <string>
#include <vector>

#include "katana/http/handlers/router.hpp"
#include "katana/stores/jobs/queue/job_queue.hpp"

namespace katana::app {

// Payloads are shown: the group is one that only those who run the program reach.
Result<void> add_queue_pages(Group& group, queue::JobQueue& queue, std::vector<std::string> names);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
