"""`python -m satyrn_engine` is the command `satyrn-engine`."""

import sys

from satyrn_engine.cli import main

if __name__ == "__main__":
    sys.exit(main())
