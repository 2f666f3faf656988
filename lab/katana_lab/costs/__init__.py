"""Costs beside those of something else, in interleaved rounds: each module is one command of the laboratory.

Standard library only, unless the description of a rival is wanted. `harness` has the shared code, `drivers` the
generators of load; katana_lab.commands names all of them.
"""

# SPDX-License-Identifier: Apache-2.0
