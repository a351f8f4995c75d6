"""What all tests share."""

import os

from hypothesis import settings

# No deadline: speed is measured in benchmarks/. CI tries the same examples every time; at home they vary.
settings.register_profile("agentlab", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("agentlab")
