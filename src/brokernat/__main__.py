"""`python -m brokernat`: the same as the command `brokernat`."""

import sys

from brokernat.cli.app import main

sys.exit(main())
