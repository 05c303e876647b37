"""`python3 -I tools/airgap ARGUMENTS`: where tools/bazel hands over when nothing brings Bazel."""

import sys
from pathlib import Path

# Last: nothing in the checkout may stand in for a module of Python's own.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from tools.airgap.launcher.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
