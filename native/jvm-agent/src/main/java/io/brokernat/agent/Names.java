package io.brokernat.agent;

import io.brokernat.agent.address.Host;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Names that this JVM does not resolve: an advertised name in a map becomes a placeholder address, and the connect
 * step, which knows the port and the client, chooses the address to dial. It sends no DNS query, so slow DNS delays no
 * mapped broker.
 */
final class Names {
    // RFC 5737: a documentation address, so a placeholder that is dialled by mistake reaches no host.
    private static final byte[] PLACEHOLDER = {(byte) 192, 0, 2, 1};

    private final Maps maps;
    private final Map<String, AtomicInteger> turns = new ConcurrentHashMap<>();

    Names(Maps maps) {
        this.maps = maps;
    }

    /** Replaces {@link InetAddress#getAllByName}. */
    InetAddress[] resolve(String name) throws UnknownHostException {
        Host host = Host.of(name == null ? "" : name);
        if (!host.isAddress() && maps.anyKnows(host)) {
            return new InetAddress[] {placeholder(name)};
        }
        try {
            return InetAddress.getAllByName(name);
        } catch (UnknownHostException e) {
            // The refusal names host and port, which only the connect step knows.
            if (maps.anyFails()) {
                return new InetAddress[] {placeholder(name)};
            }
            throw e;
        }
    }

    /**
     * A bootstrap address that Kafka has resolved: without a map for its name it stays unresolved, which Kafka reports
     * at once. With an invalid map the connect step reports the reason, instead of Kafka's unknown host.
     */
    InetSocketAddress bootstrap(InetSocketAddress address) throws UnknownHostException {
        String name = address.getHostString();
        boolean decidedLater = address.isUnresolved() && (maps.anyKnows(Host.of(name)) || maps.anyUnusable());
        return decidedLater ? new InetSocketAddress(placeholder(name), address.getPort()) : address;
    }

    /** One address of a name, the next one each time, so that a client tries the others after a failed connect. */
    InetAddress next(String name) throws UnknownHostException {
        InetAddress[] addresses = InetAddress.getAllByName(name);
        int turn = turns.computeIfAbsent(name, unused -> new AtomicInteger()).getAndIncrement();
        return addresses[Math.floorMod(turn, addresses.length)];
    }

    static boolean isPlaceholder(InetSocketAddress address) {
        return address.getAddress() != null
                && Arrays.equals(address.getAddress().getAddress(), PLACEHOLDER)
                && !Host.of(address.getHostString()).isAddress();
    }

    private static InetAddress placeholder(String name) throws UnknownHostException {
        return InetAddress.getByAddress(name, PLACEHOLDER);
    }
}
