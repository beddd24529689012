package io.brokernat.agent.address;

/**
 * Translates one host, or every name below a domain, to one host. Both sides have a port, or neither does and the port
 * does not change.
 *
 * <pre>
 * 192.168.1.23:9092=172.10.1.40:9093
 * kafka-1=10.9.0.1
 * *.hq.internal:9092=gateway:9093      one or more labels before the domain
 * </pre>
 */
final class HostRule implements Rule {
    private static final int KEPT = 0;

    private final boolean subdomains;
    private final Host advertised;
    private final int port;
    private final Host reachable;
    private final int reachablePort;

    private HostRule(boolean subdomains, Host advertised, int port, Host reachable, int reachablePort) {
        this.subdomains = subdomains;
        this.advertised = advertised;
        this.port = port;
        this.reachable = reachable;
        this.reachablePort = reachablePort;
    }

    /** Both ports are null, or neither is. */
    static HostRule of(boolean subdomains, Host advertised, Integer port, Host reachable, Integer reachablePort) {
        return new HostRule(
                subdomains, advertised, port == null ? KEPT : port, reachable, reachablePort == null ? KEPT : reachablePort);
    }

    @Override
    public boolean knows(Host host) {
        return subdomains ? !host.isAddress() && host.toString().endsWith("." + advertised) : host.equals(advertised);
    }

    @Override
    public boolean matches(Endpoint endpoint) {
        return (port == KEPT || port == endpoint.port()) && knows(endpoint.host());
    }

    @Override
    public Endpoint translate(Endpoint endpoint) {
        return new Endpoint(reachable, reachablePort == KEPT ? endpoint.port() : reachablePort);
    }

    @Override
    public String toString() {
        return (subdomains ? "*." : "") + side(advertised, port) + "=" + side(reachable, reachablePort);
    }

    private static String side(Host host, int port) {
        return port == KEPT ? host.bracketed() : host.bracketed() + ":" + port;
    }
}
