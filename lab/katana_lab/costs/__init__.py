"""What things cost, beside something else, in interleaved rounds: each module is one command of the laboratory.

Standard library only, unless a rival's description (lab/peers) is wanted. `harness` has what they share, `drivers` the
generators of load; katana_lab.commands names them all.
"""

# SPDX-License-Identifier: Apache-2.0
