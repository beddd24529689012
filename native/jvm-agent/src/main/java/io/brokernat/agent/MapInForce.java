package io.brokernat.agent;

import io.brokernat.agent.address.AddressMap;
import io.brokernat.agent.address.Host;
import java.util.LinkedHashMap;
import java.util.Map;

/** A map and its treatment of endpoints without a rule; or, for an invalid text, why all connections are refused. */
final class MapInForce {
    final AddressMap map;
    final Unmapped unmapped;
    /** Why the text is invalid, with the fix; null if it is valid. */
    final String problem;
    /** The origin of an invalid text if it is not a property of the client; else null. */
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

    /** Replaces a client's own map: every connection of that client is refused. */
    static MapInForce unusable(String problem) {
        return new MapInForce(problem, null);
    }

    /** Replaces the map of the whole JVM: every connection of all clients without their own map is refused. */
    static MapInForce unusableInJvm(String problem) {
        return new MapInForce(problem, "this JVM (the agent's argument)");
    }

    MapInForce with(Unmapped other) {
        return problem != null || other == unmapped ? this : new MapInForce(map, other);
    }

    boolean knows(Host host) {
        return map != null && map.knows(host);
    }

    /** For users and tests in this JVM: JDK types only, so that any class loader can read it. */
    Map<String, Object> status() {
        Map<String, Object> status = new LinkedHashMap<>();
        status.put("fingerprint", map == null ? "" : map.fingerprint());
        status.put("unmapped", unmapped.toString());
        status.put("rules", map == null ? Map.of() : map.uses());
        status.put("problem", problem == null ? "" : problem);
        return status;
    }
}
