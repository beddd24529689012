package io.brokernat.agent;

import io.brokernat.agent.address.Endpoint;
import io.brokernat.agent.address.Host;
import io.brokernat.agent.address.NotationException;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A Kafka client: its name in messages, its bootstrap endpoints, its map. */
final class Client {
    private static final List<String> BOOTSTRAP = List.of("bootstrap.servers", "bootstrap.controllers");

    /** The name in messages. */
    final String name;
    /** Null: no map, nothing is changed. */
    final MapInForce map;
    private final Set<Endpoint> bootstrap = new HashSet<>();

    Client(Map<?, ?> properties, MapInForce map) {
        this.name = name(properties);
        this.map = map;
        for (String key : BOOTSTRAP) {
            Object servers = properties.get(key);
            if (servers instanceof Collection) {
                ((Collection<?>) servers).forEach(server -> addBootstrap(String.valueOf(server)));
            } else if (servers != null) {
                List.of(servers.toString().split(",")).forEach(this::addBootstrap);
            }
        }
    }

    private static String name(Map<?, ?> properties) {
        for (String key : List.of("client.id", "group.id")) {
            Object value = properties.get(key);
            if (value != null && !value.toString().isEmpty()) {
                return "client " + (key.equals("client.id") ? value : "of group " + value);
            }
        }
        return "a client without client.id";
    }

    private void addBootstrap(String server) {
        try {
            // Kafka allows `SASL_SSL://host:port` there.
            int protocol = server.indexOf("://");
            bootstrap.add(Endpoint.parse(protocol < 0 ? server : server.substring(protocol + 3)));
        } catch (NotationException e) {
            return; // Kafka reports it to the user
        }
    }

    boolean bootstraps(Endpoint endpoint) {
        return bootstrap.contains(endpoint);
    }

    /** Bootstrap connections have negative ids; later ones may go to the same place under the id of a node. */
    boolean bootstraps(String connectionId, InetSocketAddress address, Endpoint endpoint) {
        boolean byAddress = address.getAddress() != null
                && bootstrap.contains(new Endpoint(Host.of(address.getAddress().getHostAddress()), address.getPort()));
        return connectionId.startsWith("-") || byAddress || bootstrap.contains(endpoint);
    }
}
