package io.brokernat.agent.address;

/** The endpoint to dial for an advertised endpoint, and the rule that produced it. */
public final class Translation {
    public final Endpoint endpoint;
    public final Rule rule;

    Translation(Endpoint endpoint, Rule rule) {
        this.endpoint = endpoint;
        this.rule = rule;
    }
}
