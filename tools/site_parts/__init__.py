"""The parts of tools/site."""

# SPDX-License-Identifier: Apache-2.0
