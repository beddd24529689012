"""`brokernat exec`: what to put around a command, so that the Kafka client in it uses a cluster's address map."""

from brokernat.clients.launch.planning import Launch, Note, plan, plan_without_map, replace_process, run_process

__all__ = ["Launch", "Note", "plan", "plan_without_map", "replace_process", "run_process"]
