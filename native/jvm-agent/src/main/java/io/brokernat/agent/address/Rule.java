package io.brokernat.agent.address;

/** One translation. {@code toString} is the canonical text and holds no blanks. */
public interface Rule {
    /** Whether the rule translates this host at some port: then DNS need not know it. */
    boolean knows(Host host);

    boolean matches(Endpoint endpoint);

    /** What to dial for an endpoint that matches. */
    Endpoint translate(Endpoint endpoint);
}
