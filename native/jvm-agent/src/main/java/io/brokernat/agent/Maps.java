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
 * Every map of this JVM, and which client dials by which.
 *
 * <p>A client is found again by the ChannelBuilder that Kafka made for it, held weakly (these classes compare by identity). Name
 * look-ups happen without a client at hand, so they ask all maps; the decision is taken by the client's own map when it connects.
 */
final class Maps {
    static final String MAP = "brokernat.map";
    static final String UNMAPPED = "brokernat.unmapped";

    // Bounds what a JVM that makes up maps for ever can make us keep; live clients hold their maps themselves.
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

    /** What a client with these properties dials by; null where nothing is changed for it. */
    MapInForce read(Map<?, ?> properties) {
        Object text = properties.get(MAP);
        Object unmapped = properties.get(UNMAPPED);
        if (text == null) {
            return withoutOwn(unmapped);
        }
        return text.toString().isBlank() ? null : own(text.toString(), unmapped == null ? Unmapped.FAIL.toString() : unmapped.toString());
    }

    /** Reads a client's map before its bootstrap names are looked up. */
    MapInForce learn(Map<?, ?> properties) {
        MapInForce own = read(properties);
        if (own == null || properties.get(MAP) == null) {
            return own;
        }
        synchronized (learned) {
            // The text of a file can become usable; until its client is adopted it counts as it was read last.
            learned.remove(unusable(properties));
            // Equal maps are one map, so that use counts add up and the cache stays small.
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
        // Else one client's mistake would be held against the bootstrap names of all others, for ever.
        learned.remove(unusable(properties));
    }

    /** A client's properties could not be read, so from now on nobody knows which clients have a map of their own. */
    void learnFailed() {
        learnFailed = true;
    }

    /**
     * A client that could not be adopted may be one whose map this JVM has learned: unadopted it would dial without it.
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

    /** Null: the channel belongs to no client, but to a broker that runs in this JVM. */
    Client clientOf(Object channelBuilder) {
        return clients.get(channelBuilder);
    }

    /** Whether this client, or one that is not known yet, has a map that refuses what no rule names. */
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
