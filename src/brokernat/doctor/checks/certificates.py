"""Checks of certificates: their names, their chain and time, and the client's own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from brokernat.doctor.checks.places import ProbedEndpoint, dialled_nodes, handshakes, nodes_by_id, nodes_of
from brokernat.doctor.checks.registry import check, error, warning
from brokernat.doctor.checks.remedies import mended_here
from brokernat.doctor.evidence import Evidence, Presented, TlsHandshake
from brokernat.doctor.finding import CheckFinding, Remedy
from brokernat.doctor.host_kinds import address, dialable, neighbours

# With two names, one may lead to the machine of the other.
_MANY_NAMES = 3
_CALLED = {"java": "Java", "librdkafka": "librdkafka", "python": "Python"}


@check("BN402")
def certificate_name(evidence: Evidence) -> Iterator[CheckFinding]:
    """The certificate does not contain the broker's name.

    Cause: The certificate of {subjects} is for other names{reason}.
    What: no name in the certificate is the one that the client verifies: the advertised name, or that of the bootstrap
    server. An address map does not change this name. Or some clients reject the name's form: Java accepts no `_` in a
    name; librdkafka and Python accept a `*` only as a whole label with two dots after it.
    Why: the certificate was made for other names; the bootstrap server is a gateway that the brokers' certificates do
    not name; an address is listed as a name (`dns:10.0.0.5`), which no client accepts; or a forward leads to another
    node, or a node has the key store of another one.
    Remedy: issue a certificate with this name among its alternative names, or use a name of the certificate.
    """
    for probed, tls in handshakes(evidence):
        name = probed.probe.name
        seen = [f"names of the certificate: {', '.join(tls.names) or 'none'}"]
        seen += [
            f"the `*` of `{each}` stands for one label, and `{name}` has more"
            for each in tls.names
            if each.startswith("*.") and name.lower().endswith(each[1:].lower()) and tls.outcome == "name-mismatch"
        ]
        form = "" if address(name) is None else ", as an address (`ip:`) and not as a name"
        fix = f"add `{name}` to the certificate's alternative names{form}"
        if tls.outcome == "name-mismatch" and (shown := _node_of(tls, probed)) is not None:
            message, remedy = _of_another_node(probed, tls, shown)
            yield error(probed, message, seen, remedy=remedy)
        elif tls.outcome == "name-mismatch":
            remedy = Remedy(broker=(fix, *_advertise_its_name(probed, tls)))
            if probed.path is None:
                remedy = _by_its_name(probed, tls).and_also([remedy])
            elif any(each.probe.name == name for each in probed.others_past("tls")):
                # Other nodes have certificates of this name, behind other ports.
                remedy = mended_here(probed).and_also([Remedy(broker=(f"if {probed.node} itself presents it: {fix}",))])
            yield error(probed, f"the certificate does not contain `{name}`", seen, remedy=remedy)
        for clients in (each.clients for each in tls.objections if each.outcome == "name-mismatch"):
            who = " and ".join(_CALLED[each] for each in clients)
            message = f"not all clients accept the certificate for `{name}`: {who} do{'es' * (len(clients) == 1)} not"
            # Java clients come first: a certificate that they reject is an error.
            if "java" in clients:
                letters = "advertise a name of letters, digits and hyphens; Java accepts no other characters"
                yield error(probed, message, seen, broker=letters, explains=False)
            else:
                yield warning(probed, message, seen, broker=fix, explains=False)


def _advertise_its_name(probed: ProbedEndpoint, tls: TlsHandshake) -> tuple[str, ...]:
    """The other way for a node that advertises an address: a name of its certificate."""
    names = [each for each in tls.names if address(each) is None and "." in each]
    if probed.path is None or probed.path.rule or address(probed.host) is None or not names:
        return ()
    return (f"or advertise a name that the certificate of {probed.node} contains, such as `{names[0]}`",)


def _node_of(tls: TlsHandshake, probed: ProbedEndpoint) -> int | None:
    """The other node that the certificate names, None if it names none or several."""
    if probed.path is None:
        return None
    names = {name.lower() for name in tls.names}
    brokers = {path.broker for path in probed.evidence.paths} - {probed.path.broker}
    nodes = [each.node_id for each in brokers if each.host.lower() in names]
    return nodes[0] if len(nodes) == 1 else None


def _of_another_node(probed: ProbedEndpoint, tls: TlsHandshake, shown: int) -> tuple[str, Remedy]:
    """The message and the remedy for the certificate of node `shown` at this node's endpoint."""
    message = f"it is the certificate of node {shown}"
    if by_name := probed.chosen_by_name:
        return message, Remedy(broker=(by_name,), rules=_presented_elsewhere(probed))
    owner = nodes_by_id(probed.evidence).get(shown)
    lone = f"if {probed.node} itself presents it: give it its own certificate"
    if owner is not None and owner.failure is None and not owner.shares_address(probed):
        message += f", which answers at {owner.probe.endpoint}"
        places = product(probed.probe.addresses, owner.probe.addresses)
        if not any(neighbours(one, other) for one, other in places):
            correct = f"correct the forward at {probed.probe.endpoint}: it must lead to {probed.node}"
            return f"{message}: a forward there probably leads to {owner.node}", Remedy(broker=(correct, lone))
        message += f": {probed.node} probably has the key store of {owner.node}"
        return message, Remedy(broker=(f"give {probed.node} its own certificate",)).and_also([mended_here(probed)])
    here = [each for each in probed.at_same_address if each.probe.port == probed.probe.port]
    if len(here) >= _MANY_NAMES:
        message += f": the names of {nodes_of(here)} lead to one port, at which only node {shown} answers"
        own = "give each broker a port or an address of its own at the gateway"
        return message, Remedy(broker=(f"{own}, or let it choose the broker by the TLS name (SNI)",))
    there = [each for each in probed.probe.addresses if each in tls.names]
    named = probed.path is not None and not probed.path.rule and address(probed.host) is None and probed.probe.addresses
    # Behind a gateway, each node has its own port.
    beside = any(
        each.path.broker.node_id == shown and each.probe.port == probed.probe.port
        for each in dialled_nodes(probed.evidence)
        if not set(each.probe.addresses).isdisjoint(probed.probe.addresses)
    )
    if not named or not (there or beside or not probed.is_behind_gateway):
        mend = mended_here(probed)
        return message, Remedy(mend.client, (*mend.broker, lone), _presented_elsewhere(probed))
    leads = f"`{probed.host}` leads to {', '.join(there or probed.probe.addresses)}"
    line = probed.probe.hosts_entry
    what = f"the line `{line}` of /etc/hosts" if line else f"the DNS record of `{probed.host}`"
    verb = "leads" if there else "probably leads"
    correct = f"correct {what}: it {verb} to the machine of node {shown}, and must lead to {probed.node}"
    if there:
        message = f"{leads}, the machine of node {shown}, whose certificate is presented there"
    else:
        message += f": {leads}, probably its machine"
    # A key store of another node is less likely than a name with a wrong address.
    mine = () if there else (lone,)
    return message, Remedy((correct,), mine) if line else Remedy(broker=(correct, *mine))


def _presented_elsewhere(probed: ProbedEndpoint) -> tuple[str, ...]:
    """The rule to the endpoint at which the certificate of this node was presented instead."""
    if probed.path is None:
        return ()
    broker = probed.path.broker
    ends = [
        other.probe.endpoint
        for other in dialled_nodes(probed.evidence)
        if other.probe.tls is not None and _node_of(other.probe.tls, other) == broker.node_id
    ]
    return (f"{broker.endpoint} = {ends[0]}",) if len(ends) == 1 else ()


def _by_its_name(server: ProbedEndpoint, tls: TlsHandshake) -> Remedy:
    """How a client keeps name verification on: it bootstraps at a name of the certificate, which must lead to the same
    address. A first map of this one rule would refuse the other nodes, so a rule is advised only beside others.
    """
    whole = next((name for name in tls.names if dialable(name, 1)), None)
    if whole is None:
        return Remedy(("use a name that the certificate contains",))
    held = f"{whole}:{server.probe.port}"
    own = "bootstrap at a name of the certificate"
    if server.evidence.rules:
        return Remedy((f"{own}, together with the rule below: {held}",), rules=(f"{held} = {server.probe.endpoint}",))
    place = next((each.address for each in server.probe.attempts if each.outcome == "connected"), server.host)
    return Remedy((f"{own}, {held}; if it does not resolve to {place} here, add `{place} {whole}` to the hosts file",))


_SOME_REJECT = {
    "expired": (
        "a certificate in the trust store is expired or not yet valid: Java accepts it, librdkafka and Python do not",
        Remedy(("add the new certificate to the trust store once it is renewed",), ("renew the certificate",)),
    ),
    "untrusted": (
        "the trust store has an intermediate authority and not the root: Java accepts that, librdkafka and Python "
        "before 3.13 do not",
        Remedy(("if other clients than Java use the trust store: add the root that signed the authority",)),
    ),
}


@check("BN403")
def certificate_chain(evidence: Evidence) -> Iterator[CheckFinding]:
    """The certificate is not trusted, or is not valid now.

    Cause: The client does not accept the certificate of {subjects}{reason}.
    What: the certificate is expired or not yet valid, no authority in the client's trust store signed it, or it was
    issued for another purpose. Clients differ. If the trust store holds the certificate itself (a broker's or an
    authority's), Java accepts it after it has expired; librdkafka and Python reject it. They also need the root in the
    trust store; an intermediate authority is enough for Java.
    Why: the certificate was not renewed, the client uses the wrong trust store, the broker does not send an
    intermediate certificate, or a device on the path ends TLS with its own certificate.
    Remedy: renew it, add its authority to the trust store, or configure the broker to send the whole chain.
    """
    inspecting = _one_unknown_issuer(evidence)
    for probed, tls in handshakes(evidence):
        for objection in tls.objections:
            if objection.outcome in _SOME_REJECT:
                message, remedy = _SOME_REJECT[objection.outcome]
                yield warning(probed, message, (objection.detail,), remedy=remedy, explains=False)
        if tls.outcome == "expired":
            message, remedy = _expired(probed, tls)
        elif tls.outcome == "untrusted":
            message, remedy = _untrusted(probed, tls, inspecting)
        elif tls.outcome == "unfit":
            message = f"it cannot be used for a broker: {tls.detail}"
            remedy = Remedy(broker=("issue a certificate for servers",))
        else:
            continue
        shown = [
            f"presented: `{each.subject}`, signed by `{each.issuer}`, {each.since} to {each.until}"
            for each in tls.chain
        ]
        yield error(probed, message, (tls.detail, *shown), remedy=remedy)


def _one_unknown_issuer(evidence: Evidence) -> str | None:
    """The authority that signed the certificates at all endpoints, if the client trusts none of them."""
    presented = [tls for _, tls in handshakes(evidence)]
    issuers = {tls.chain[-1].issuer for tls in presented if tls.chain}
    alone = any(len(tls.chain) == 1 and tls.chain[0].subject == tls.chain[0].issuer for tls in presented)
    unknown = all(tls.outcome == "untrusted" and tls.chain for tls in presented)
    return issuers.pop() if unknown and not alone and len(issuers) == 1 else None


def _expired(probed: ProbedEndpoint, tls: TlsHandshake) -> tuple[str, Remedy]:
    """The message and the remedy for the first certificate of the chain that is not valid now."""
    message, renew = "it is expired or not yet valid", "renew the certificate"
    if probed.path is not None and probed.others_past("tls"):
        renew += f" of {probed.node}"
    for each in tls.chain:
        if word := _out_of_time(each, probed.evidence.taken_at):
            message = f"it {word}"
            if each is not tls.chain[0]:
                message = f"`{each.subject}`, which signed it, {word}"
                renew = f"renew `{each.subject}`, and present the new certificate"
            break
    return message, Remedy(("check the clock of this machine",), (renew,))


def _out_of_time(shown: Presented, now: str) -> str | None:
    """When its validity ended or begins; None if it is valid now."""
    if now > shown.until:
        return f"expired on {shown.until[:10]}"
    return f"is not valid before {shown.since[:10]}" if now < shown.since else None


def _untrusted(probed: ProbedEndpoint, tls: TlsHandshake, inspecting: str | None) -> tuple[str, Remedy]:
    """The message and the remedy for a chain that no authority in the trust store signed.

    `inspecting` is the authority of all endpoints, if the client trusts none of them.
    """
    message = "no authority in the client's trust store signed it"
    client = [
        "if it is the cluster's certificate: add its authority or the certificate itself to the trust store "
        "(`ssl.truststore.location`; without it, clients trust public authorities alone)"
    ]
    broker = ["have it signed by an authority that clients trust"]
    if tls.chain and tls.chain[-1].subject != tls.chain[-1].issuer:
        signer = f"`{tls.chain[-1].issuer}`"
        message = f"its authority {signer} is not trusted by the client and not presented by the broker"
        client = [f"add {signer} to the trust store, if it is the cluster's authority"]
        broker = [f"if clients trust the authority that signed {signer}: add {signer} to the key store's chain"]
    if others := probed.others_past("tls"):
        message += f", unlike at {nodes_of(others)}"
        end = probed.probe.endpoint
        between = f"if {probed.node} does not present it itself: find the proxy that answers at {end}"
        # A chain without its root may only lack an intermediate certificate.
        if len(tls.chain) > 1 and tls.chain[-1].subject == tls.chain[-1].issuer:
            message += f"; a proxy on the path may present a certificate of its own (issuer `{tls.chain[0].issuer}`)"
            broker.insert(0, f"{between}, and have it pass TLS through to {probed.node}")
        else:
            broker.append(between)
    elif inspecting is not None:
        asked = f"compare `{inspecting}` with the authority that the brokers' administrators expect"
        client.append(f"{asked}: if it is another one, a proxy on the path inspects TLS, and must not do so here")
    return message, Remedy(tuple(client), tuple(broker))


@check("BN405")
def client_certificate(evidence: Evidence) -> Iterator[CheckFinding]:
    """The client certificate is missing or rejected.

    Cause: The client certificate is missing or rejected at {subjects}{reason}.
    What: the broker ends the handshake because the client sends no certificate, or one that the broker rejects.
    Why: the listener has `ssl.client.auth=required`, and the client has no key store, or the broker's trust store lacks
    the authority of the client's certificate.
    Remedy: give the client a key store, or add the client's authority to the broker's trust store.
    """
    for probed, tls in handshakes(evidence):
        if tls.outcome == "client-certificate":
            message = "the broker requires a client certificate"
            remedy = Remedy(("give the client a key store: `ssl.keystore.location`",))
            if tls.showed:
                message = "the broker rejects the client certificate"
                valid = "use a valid certificate that an authority in the brokers' trust store signed"
                add = "add the authority of the client's certificate to the listener's `ssl.truststore.location`"
                remedy = Remedy((valid,), (add,))
            for shown in tls.chain:
                if word := _out_of_time(shown, evidence.taken_at):
                    message = f"the broker rejects the client certificate: `{shown.subject}` {word}"
                    remedy = Remedy(("renew the certificate in the client's key store",))
            yield error(probed, message, (tls.detail,), remedy=remedy)
