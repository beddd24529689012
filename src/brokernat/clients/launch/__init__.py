"""`brokernat exec`: starts a command so that its Kafka clients use a cluster's address map."""

from brokernat.clients.launch.planning import Launch, Note, plan, plan_without_map, replace_process, run_process

__all__ = ["Launch", "Note", "plan", "plan_without_map", "replace_process", "run_process"]
