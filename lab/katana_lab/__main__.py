"""`python -m katana_lab`: the command line."""
import sys

from katana_lab.cli import main

sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
