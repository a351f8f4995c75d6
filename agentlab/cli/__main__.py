"""``python -m agentlab.cli``: the command where the environment's scripts are not on the PATH."""

from agentlab.cli import main

main()
