"""The experiment main_job: users over SQLite, durable. Its servers, the check of their duties, its database and loads.

Every server has the flags `--port PORT --database FILE`, and the same routes:
    GET  /health                    200, an object with a member `status`
    GET  /users/{id}                200 {"id","name","email"}; 404 and an object; 400, 404 or 422 for what is no number
    GET  /users?limit=20&after=N    200 {"users":[…],"next":N}, by id; `next` is null on the last page
    POST /users {"name","email"}    201, the row, and Location, once it is on the disk; 400, 415 or 422 for a wrong one;
                                    409 for an email that is taken
"""
from __future__ import annotations

from katana_lab import LAB, ROOT

FOLDER = LAB / "main_job"
BUILD = ROOT / "build" / "main_job"
USERS = 100_000                          # in the database before anything is measured
PAGE = 20

# SPDX-License-Identifier: Apache-2.0
