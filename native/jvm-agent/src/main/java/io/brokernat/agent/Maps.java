package io.brokernat.agent;

import io.brokernat.agent.address.Host;
import io.brokernat.agent.address.MapException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * All maps of this JVM, and the map of each client.
 *
 * <p>The key of a client is its ChannelBuilder, held weakly (these classes compare by identity). A name look-up does
 * not know its client, so it uses all maps; the client's own map applies when it connects.
 */
final class Maps {
    static final String MAP = "brokernat.map";
    static final String UNMAPPED = "brokernat.unmapped";

    // Bounds the memory for a JVM with ever new maps; live clients hold their maps themselves.
    private static final int MAX_LEARNED = 256;

    private final MapInForce global;
    private volatile boolean learnFailed;
    private final Map<Object, Client> clients = Collections.synchronizedMap(new WeakHashMap<>());
    private final Map<String, MapInForce> learned = Collections.synchronizedMap(new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, MapInForce> eldest) {
            return size() > MAX_LEARNED;
        }
    });

    Maps(MapInForce global) {
        this.global = global;
    }

    /** The map of a client with these properties; null if it has none. */
    MapInForce read(Map<?, ?> properties) {
        Object text = properties.get(MAP);
        Object unmapped = properties.get(UNMAPPED);
        if (text == null) {
            return withoutOwn(unmapped);
        }
        return text.toString().isBlank() ? null : own(text.toString(), unmapped == null ? Unmapped.FAIL.toString() : unmapped.toString());
    }

    /** Reads a client's map before its bootstrap names are resolved. */
    MapInForce learn(Map<?, ?> properties) {
        MapInForce own = read(properties);
        if (own == null || properties.get(MAP) == null) {
            return own;
        }
        synchronized (learned) {
            // A file can become valid; until its client is adopted, the last read text applies.
            learned.remove(unusable(properties));
            // Equal maps share one object, so that use counts add up and the cache stays small.
            String key = own.problem == null ? own.unmapped + " " + own.map : unusable(properties);
            MapInForce known = learned.get(key);
            if (known == null) {
                learned.put(key, own);
            }
            return known == null ? own : known;
        }
    }

    private MapInForce withoutOwn(Object unmapped) {
        try {
            return global == null || unmapped == null ? global : global.with(Unmapped.parse(unmapped.toString()));
        } catch (MapException e) {
            return MapInForce.unusable(e.getMessage());
        }
    }

    private static MapInForce own(String text, String unmapped) {
        try {
            return new MapInForce(MapText.parse(text), Unmapped.parse(unmapped));
        } catch (MapException e) {
            return MapInForce.unusable(e.getMessage());
        }
    }

    private static String unusable(Map<?, ?> properties) {
        return "unusable " + properties.get(UNMAPPED) + " " + properties.get(MAP);
    }

    /** From now on the client holds its map. */
    void adopt(Map<?, ?> properties, Object channelBuilder) {
        clients.put(channelBuilder, new Client(properties, learn(properties)));
        // Otherwise the error of one client would affect the bootstrap names of all others for ever.
        learned.remove(unusable(properties));
    }

    /** A client's properties could not be read, so from now on it is unknown which clients have their own map. */
    void learnFailed() {
        learnFailed = true;
    }

    /**
     * A client that could not be adopted may have a map that this JVM knows; it would dial without that map.
     *
     * @return whether its connections are refused from now on
     */
    boolean adoptFailed(Object channelBuilder, String fault) {
        if (clientOf(channelBuilder) != null || !learnFailed && all().isEmpty()) {
            return false;
        }
        clients.put(channelBuilder, new Client(Map.of(), MapInForce.unusable(fault)));
        return true;
    }

    /** Null: the channel belongs to a broker in this JVM, not to a client. */
    Client clientOf(Object channelBuilder) {
        return clients.get(channelBuilder);
    }

    /** Whether this client, or one that is not known yet, has a map that refuses endpoints without a rule. */
    boolean failsFor(Object channelBuilder) {
        Client client = clientOf(channelBuilder);
        MapInForce map = client == null ? global : client.map;
        return map != null && map.unmapped == Unmapped.FAIL;
    }

    boolean anyKnows(Host host) {
        return all().stream().anyMatch(map -> map.knows(host));
    }

    boolean anyUnusable() {
        return all().stream().anyMatch(map -> map.problem != null);
    }

    boolean anyFails() {
        return all().stream().anyMatch(map -> map.unmapped == Unmapped.FAIL);
    }

    List<Map<String, Object>> status() {
        List<Map<String, Object>> status = new ArrayList<>();
        all().forEach(map -> status.add(map.status()));
        return status;
    }

    private Set<MapInForce> all() {
        Set<MapInForce> all = new LinkedHashSet<>();
        if (global != null) {
            all.add(global);
        }
        synchronized (learned) {
            all.addAll(learned.values());
        }
        synchronized (clients) {
            clients.values().stream().map(client -> client.map).filter(map -> map != null).forEach(all::add);
        }
        return all;
    }
}
