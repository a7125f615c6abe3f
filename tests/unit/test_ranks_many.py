#!/usr/bin/env python3
"""test_ranks.py with 64 ranks on one machine."""

import os
import unittest

os.environ["RANKS"] = "64"

from test_ranks import Ranks  # noqa: E402, F401

if __name__ == "__main__":
    unittest.main()
