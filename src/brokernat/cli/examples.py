"""The examples at the end of each command's help, in one text, so that a test can check every line.

A line belongs to the command that it starts, and to the command's group. Lines fit a terminal of 80 columns; the
addresses are those of the guides.
"""

from __future__ import annotations

import re
from typing import Final

import click

from brokernat.cli.options import help_option

EXAMPLES: Final = """\
brokernat init
brokernat config check
brokernat config check --skip-secrets --fail-on warning
brokernat config schema > brokernat.schema.json
brokernat map check --cluster hq
brokernat map translate --cluster hq 192.168.1.24:9092
brokernat map translate --rule '10.1.0.0/24 = 10.9.0.0/24' 10.1.0.7:9092
brokernat map export --cluster hq --output hq.rules
brokernat doctor 172.10.1.40:9093
brokernat doctor -b 172.10.1.40:9093 --command-config client.properties
brokernat doctor --cluster hq --html report.html
brokernat doctor --cluster hq --save evidence.json
brokernat doctor --from evidence.json
brokernat doctor --server-properties docker-compose.yml
brokernat explain 'java.net.UnknownHostException: kafka2.hq.internal'
brokernat explain app.log
brokernat explain BN302
brokernat discover -b 172.10.1.40:9093 --scan 172.10.1.40:9000-9999 --write
brokernat discover --cluster hq --candidates 172.10.1.40:9090-9100 --write
brokernat discover --cluster hq --scan 172.10.1.40:1024-65535
brokernat demo
brokernat testbed up --output brokernat.yaml
brokernat testbed up --world netns --between nftables
brokernat testbed status
brokernat testbed down
brokernat pipeline check tags
brokernat pipeline run tags --once
brokernat pipeline run tags --master spark://master:7077
brokernat pipeline run tags --status 8088 --log-format json
brokernat pipeline reconcile tags
brokernat pipeline reconcile --cluster hq --topic audit
brokernat pipeline replay tags --cause MissingReference --dry-run
brokernat pipeline replay tags --since 2026-01-05 --record orders/0/7-90
brokernat exec --cluster hq -- kafka-console-consumer.sh --topic orders \\
    --bootstrap-server 172.10.1.40:9093
brokernat exec --cluster hq --cluster local -- python3 job.py
brokernat exec --cluster hq --dry-run -- spark-submit job.py
brokernat exec --map '192.168.1.23:9092=172.10.1.40:9093' -- \\
    kcat -L -b 172.10.1.40:9093
brokernat tunnel --ssh user@bastion -b kafka-1.hq.internal:9092 \\
    -- python3 consumer.py
brokernat tunnel --ssh '-J user@outer user@inner' --cluster hq
brokernat tunnel --kubectl -b my-cluster-kafka-bootstrap.kafka:9092 \\
    -- kcat -L -b my-cluster-kafka-bootstrap.kafka:9092
brokernat tunnel --cluster hq --proxy --login
brokernat tunnel --via 'socat TCP-LISTEN:{local},fork TCP:{host}:{port}' \\
    --cluster hq
brokernat proxy --cluster hq
brokernat proxy --cluster hq --listen 172.10.1.40:9090 --workers 2
brokernat proxy 172.10.1.40:9093 --map '192.168.1.23:9092=172.10.1.40:9093'
brokernat render nginx --cluster hq --output kafka.conf
brokernat render haproxy --cluster hq --output kafka.cfg
brokernat render hosts --cluster hq
brokernat render iptables --cluster hq --output kafka.rules
brokernat render nftables --cluster hq --output kafka.nft
brokernat render ssh --cluster hq --output forward.sh
brokernat render kubectl --cluster hq --output forward.sh
brokernat render spark --cluster hq --output spark-defaults.conf \\
    --agent-path /opt/brokernat/brokernat-agent.jar
brokernat render spring --cluster hq --output application-nat.yaml
brokernat render listeners --brokers 3 --listener 'IN=kafka-{id}:9092' \\
    --listener 'OUT=gateway:{9092+id}'
brokernat render listeners --cluster hq --output 'node-{id}.properties'
brokernat render compose --listener 'IN=kafka{id}:29092' \\
    --listener OUT=localhost:9092 --output docker-compose.yml
brokernat ship --cluster hq --topic audit --spool spool --file 'logs/*.log'
app | brokernat ship --cluster hq --topic audit --spool spool --stdin
brokernat ship audit
brokernat ship status --spool spool
brokernat agent --copy-to /opt/brokernat
brokernat spark-packages
brokernat plugin --copy-to /opt/brokernat
brokernat plugin --path --preload
brokernat bundle brokernat-bundle
brokernat bundle --verify brokernat-bundle
brokernat bundle --install brokernat-bundle
"""


def examples(command: str) -> tuple[str, ...]:
    """The lines of a command, or of all commands of a group; a line may continue on the next one."""
    whole = re.split(r"(?<!\\)\n", EXAMPLES.rstrip())
    return tuple(line for line in whole if re.search(rf"\bbrokernat {command}(?= |$)", line))


def with_examples(command: click.Command, path: str) -> click.Command:
    """The command and its subcommands, with `--help` and examples at the end of the help."""
    if not any("--help" in each.opts for each in command.params):
        help_option(command)
    if found := examples(path):
        command.epilog = "\b\n" + "\n".join(("Examples:", *found)).replace("\n", "\n  ")
    for name, below in command.commands.items() if isinstance(command, click.Group) else ():
        with_examples(below, f"{path} {name}")
    return command
