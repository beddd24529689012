package io.brokernat.agent;

import io.brokernat.agent.address.AddressMap;
import io.brokernat.agent.address.Host;
import java.util.LinkedHashMap;
import java.util.Map;

/** A map and what becomes of endpoints that it does not name; or, where its text cannot be used, why nothing may be dialled. */
final class MapInForce {
    final AddressMap map;
    final Unmapped unmapped;
    /** Why the text cannot be used, with what to write instead; null where it can. */
    final String problem;
    /** Where a text that cannot be used comes from, where it is not a property of the client; else null. */
    final String origin;

    MapInForce(AddressMap map, Unmapped unmapped) {
        this.map = map;
        this.unmapped = unmapped;
        this.problem = null;
        this.origin = null;
    }

    private MapInForce(String problem, String origin) {
        this.map = null;
        this.unmapped = Unmapped.FAIL;
        this.problem = problem;
        this.origin = origin;
    }

    /** In place of a client's own map: every connection of that client is refused. */
    static MapInForce unusable(String problem) {
        return new MapInForce(problem, null);
    }

    /** In place of the map of the whole JVM: every connection of each client without a map of its own is refused. */
    static MapInForce unusableInJvm(String problem) {
        return new MapInForce(problem, "this JVM (the agent's argument)");
    }

    MapInForce with(Unmapped other) {
        return problem != null || other == unmapped ? this : new MapInForce(map, other);
    }

    boolean knows(Host host) {
        return map != null && map.knows(host);
    }

    /** For people and tests in this JVM: JDK types only, so that any class loader can read it. */
    Map<String, Object> status() {
        Map<String, Object> status = new LinkedHashMap<>();
        status.put("fingerprint", map == null ? "" : map.fingerprint());
        status.put("unmapped", unmapped.toString());
        status.put("rules", map == null ? Map.of() : map.uses());
        status.put("problem", problem == null ? "" : problem);
        return status;
    }
}
