"""The configuration file `brokernat.yaml`: clusters, pipelines and shipments."""

from brokernat.config.cluster import Cluster
from brokernat.config.load import Config, load
from brokernat.config.model import Pipeline
from brokernat.config.secrets import Secret

__all__ = ["Cluster", "Config", "Pipeline", "Secret", "load"]
