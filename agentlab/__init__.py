"""agentlab: look under the hood of an AI agent. Run it, break it, measure it, govern it.

Importing the package loads nothing heavy: each part is imported where it is used
(``from agentlab.context import growth``). docs/ARCHITECTURE.md is the map.
"""

__version__ = "0.1.0"
