"""JVM support: finding Java, Maven artifacts, and the agent jar with its options."""

from brokernat.jvm.agent import agent_argument, agent_jar, javaagent_option, require_absolute, spark_functions_jar
from brokernat.jvm.artifacts import resolve
from brokernat.jvm.java import Java, find_java, spark_java_home

__all__ = [
    "Java",
    "agent_argument",
    "agent_jar",
    "find_java",
    "javaagent_option",
    "require_absolute",
    "resolve",
    "spark_functions_jar",
    "spark_java_home",
]
