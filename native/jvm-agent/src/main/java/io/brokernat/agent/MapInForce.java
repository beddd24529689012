package io.brokernat.agent;

import io.brokernat.agent.address.AddressMap;
import io.brokernat.agent.address.Host;
import java.util.LinkedHashMap;
import java.util.Map;

/** A map and what it says about endpoints that it does not name; or, where its text is wrong, why nothing may be dialled. */
final class MapInForce {
    final AddressMap map;
    final Unmapped unmapped;
    final String problem;

    MapInForce(AddressMap map, Unmapped unmapped) {
        this.map = map;
        this.unmapped = unmapped;
        this.problem = null;
    }

    private MapInForce(String problem) {
        this.map = null;
        this.unmapped = Unmapped.FAIL;
        this.problem = problem;
    }

    static MapInForce wrong(String problem) {
        return new MapInForce(problem);
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
