package io.brokernat.agent.proof;

import io.brokernat.agent.Agent;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.InetAddress;
import java.net.URL;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/** Describes this JVM, its agent and its kafka-clients. */
final class JvmFacts {
    private static final String KAFKA_VERSION = "kafka/kafka-version.properties";

    private JvmFacts() {}

    static Map<String, Object> describe() {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("executor", executor());
        facts.put("host", host());
        facts.put("pid", ProcessHandle.current().pid());
        facts.put("java", System.getProperty("java.version"));
        facts.put("kafka_clients", kafkaClients());
        return facts;
    }

    /** {@code agent} (its version, or null), {@code loader}, {@code global_fingerprint}. */
    static Map<String, Object> agent() {
        Map<String, Object> facts = new LinkedHashMap<>();
        boolean runs = System.getProperty(Agent.VERSION) != null;
        Map<?, ?> status = runs ? (Map<?, ?>) ofAgent("status", new Class<?>[0]) : Map.of();
        facts.put("agent", status.get("version"));
        facts.put("loader", status.get("loader"));
        facts.put("global_fingerprint", status.get("fingerprint"));
        return facts;
    }

    /** The result of {@link Agent#inspect} for these properties; the agent must run. */
    static Map<?, ?> inspect(Map<String, String> properties, List<String> endpoints) {
        return (Map<?, ?>) ofAgent("inspect", new Class<?>[] {Map.class, List.class}, properties, endpoints);
    }

    /** Calls the class in the system class loader, because only that copy has the agent's state. */
    private static Object ofAgent(String method, Class<?>[] types, Object... arguments) {
        try {
            Class<?> agent = ClassLoader.getSystemClassLoader().loadClass(Agent.class.getName());
            return agent.getMethod(method, types).invoke(null, arguments);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("the running agent " + System.getProperty(Agent.VERSION) + " has no " + method, e);
        }
    }

    /** Uses method handles: reflection would resolve the types of all methods of SparkEnv, and some may be missing. */
    private static String executor() {
        try {
            Class<?> type = Class.forName("org.apache.spark.SparkEnv", false, KafkaLoader.context());
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            Object environment = lookup.findStatic(type, "get", MethodType.methodType(type)).invoke();
            return environment == null
                    ? null
                    : (String) lookup.findVirtual(type, "executorId", MethodType.methodType(String.class)).invoke(environment);
        } catch (Throwable notInSpark) { // method handles declare Throwable
            return null;
        }
    }

    private static String host() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown";
        }
    }

    /** All copies on the class path, the used one first. Two copies are a mistake that shows much later. */
    private static List<Object> kafkaClients() {
        List<Object> copies = new ArrayList<>();
        try {
            for (URL url : new LinkedHashSet<>(Collections.list(KafkaLoader.context().getResources(KAFKA_VERSION)))) {
                Properties version = new Properties();
                try (InputStream in = url.openStream()) {
                    version.load(in);
                }
                copies.add(Map.of("version", version.getProperty("version", "unknown"), "location", location(url)));
            }
        } catch (IOException e) {
            copies.add(Map.of("version", "unknown", "location", e.toString()));
        }
        return copies;
    }

    private static String location(URL url) {
        String text = url.toString();
        return text.replaceFirst("^jar:file:", "").replaceFirst("!.*", "");
    }
}
