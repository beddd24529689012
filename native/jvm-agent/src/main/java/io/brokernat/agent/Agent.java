package io.brokernat.agent;

import io.brokernat.agent.address.MapException;
import io.brokernat.agent.hook.HookTransformer;
import java.lang.instrument.Instrumentation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The start of the agent, once in a JVM, and its state. The state is in the class of the system class loader: an
 * agent's jar is on the system class path, both for {@code -javaagent} and for attach. A copy in another class loader
 * has no state and uses {@link ClassLoader#getSystemClassLoader()}; the system property {@link #VERSION} shows whether
 * an agent runs.
 */
public final class Agent {
    /** System property: the version of the running agent. */
    public static final String VERSION = "brokernat.agent.version";
    /** System property: the fingerprint of the map of the whole JVM; empty without one. */
    public static final String MAP = "brokernat.agent.map";

    private static volatile Services services = new Services(null);
    private static volatile HookTransformer transformer;
    private static volatile String loader = "";
    private static volatile String fingerprint = "";

    private Agent() {}

    public static void premain(String argument, Instrumentation instrumentation) {
        start(argument, instrumentation, "javaagent");
    }

    public static void agentmain(String argument, Instrumentation instrumentation) {
        start(argument, instrumentation, "attach");
    }

    /** The version in the manifest of this class's jar. */
    public static String version() {
        String version = Agent.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    /** JDK types only: {@code version}, {@code loader}, {@code fingerprint}, {@code hooks} (class to places), {@code maps}. */
    public static Map<String, Object> status() {
        Map<String, Object> status = new LinkedHashMap<>();
        status.put("version", version());
        status.put("loader", loader);
        status.put("fingerprint", fingerprint);
        status.put("hooks", transformer == null ? Map.of() : transformer.places());
        status.put("maps", services.maps.status());
        return status;
    }

    /**
     * The endpoints that a client with these properties would dial; opens and counts no connection.
     *
     * @param endpoints advertised, as {@code host:port}
     * @return JDK types only: {@code fingerprint}, {@code unmapped} and {@code problem} of the map ("" without one), and
     *     {@code reachable}: endpoint to endpoint, "" if the map refuses it
     */
    public static Map<String, Object> inspect(Map<String, ?> properties, List<String> endpoints) {
        MapInForce map = services.maps.read(properties);
        Client client = new Client(properties, map);
        Map<String, String> reachable = new LinkedHashMap<>();
        endpoints.forEach(endpoint -> reachable.put(endpoint, services.dialler.plan(client, endpoint)));
        Map<String, Object> result = new LinkedHashMap<>(
                map == null ? Map.of("fingerprint", "", "unmapped", "", "problem", "") : map.status());
        result.put("reachable", reachable);
        return result;
    }

    static Services services() {
        return services;
    }

    private static synchronized void start(String argument, Instrumentation instrumentation, String how) {
        String running = System.getProperty(VERSION);
        if (running != null) {
            boolean asked = argument != null && !argument.isBlank();
            if (asked || !running.equals(version())) {
                Log.stderr("agent " + running + " runs already; this one, " + version() + (asked ? ", and its argument are" : ", is") + " not used");
            }
            return;
        }
        try {
            MapInForce global = global(argument);
            services = new Services(global);
            loader = how;
            fingerprint = global == null || global.map == null ? "" : global.map.fingerprint();
            transformer = new HookTransformer(global != null && global.unmapped == Unmapped.FAIL);
            transformer.install(instrumentation);
            System.setProperty(MAP, fingerprint);
            System.setProperty(VERSION, version());
        } catch (Throwable fault) { // the agent must not prevent the start of the application
            Log.stderr("agent " + version() + " could not start; NO client of this JVM is translated or refused, logins go to the advertised"
                    + " addresses: " + fault);
        }
    }

    static MapInForce global(String argument) {
        try {
            return AgentArgument.parse(argument);
        } catch (MapException e) {
            Log.stderr("the agent's argument cannot be used, so every client without a brokernat.map of its own is refused: " + e.getMessage());
            return MapInForce.unusableInJvm(e.getMessage());
        }
    }
}
