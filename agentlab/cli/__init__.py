"""The `agentlab` command."""
