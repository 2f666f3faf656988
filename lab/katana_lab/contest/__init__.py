"""A contest: one load on several servers of equal duties, in rounds. HttpArena, TechEmpower and main_job are contests.

`servers`: what a server is, how it is built and started. `check`: how its duties are checked. `measured`: rounds of
fresh servers under a load, and the cells of their tables. `wire` and `memory`: what these need.
A contest itself has its servers, its checks, its loads and its tables.
"""

# SPDX-License-Identifier: Apache-2.0
