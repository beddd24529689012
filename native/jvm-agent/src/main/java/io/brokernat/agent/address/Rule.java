package io.brokernat.agent.address;

/** One rule. {@code toString} returns the canonical text, without blanks. */
public interface Rule {
    /** Whether the rule translates this host for at least one port: then DNS need not resolve it. */
    boolean knows(Host host);

    boolean matches(Endpoint endpoint);

    /** The endpoint to dial for an endpoint that matches. */
    Endpoint translate(Endpoint endpoint);
}
