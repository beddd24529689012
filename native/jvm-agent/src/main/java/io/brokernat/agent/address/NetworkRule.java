package io.brokernat.agent.address;

/** {@code 10.1.0.0/24=10.9.0.0/24}: host bits and port do not change. A name never matches: it is not resolved. */
final class NetworkRule implements Rule {
    private final Network advertised;
    private final Network reachable;

    NetworkRule(Network advertised, Network reachable) {
        this.advertised = advertised;
        this.reachable = reachable;
    }

    @Override
    public boolean knows(Host host) {
        return host.isAddress() && advertised.contains(host.address());
    }

    @Override
    public boolean matches(Endpoint endpoint) {
        return knows(endpoint.host());
    }

    @Override
    public Endpoint translate(Endpoint endpoint) {
        return new Endpoint(Host.of(reachable.withHostBitsOf(endpoint.host().address())), endpoint.port());
    }

    @Override
    public String toString() {
        return advertised + "=" + reachable;
    }
}
