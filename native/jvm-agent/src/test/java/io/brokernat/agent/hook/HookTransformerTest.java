package io.brokernat.agent.hook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The hooks in the class files of real clients, relocated ones too. */
class HookTransformerTest {
    /** Where a release moves a hook's instruction, a number here changes; it must never become zero for Selector. */
    @ParameterizedTest
    @CsvSource({"2.0.1, 2, 0, 2, 1", "2.4.1, 5, 0, 3, 1", "2.8.2, 4, 1, 3, 1", "3.0.2, 4, 1, 3, 1", "3.4.1, 4, 1, 3, 1", "3.9.2, 4, 1, 3, 1",
        "4.0.2, 4, 1, 3, 1", "4.4.0, 4, 1, 3, 1"})
    void findsEveryPlaceAndTheResultVerifies(String version, int clientUtils, int resolver, int config, int selector) throws Exception {
        try (HookedKafka kafka = HookedKafka.version(version)) {
            // Initializing a class verifies it.
            assertNotNull(kafka.initialized("common.network.Selector"));
            assertNotNull(kafka.initialized("clients.ClientUtils"));
            assertNotNull(kafka.initialized("common.config.AbstractConfig"));
            Map<String, Integer> expected = new TreeMap<>(Map.of(
                    "org/apache/kafka/clients/ClientUtils", clientUtils,
                    "org/apache/kafka/common/config/AbstractConfig", config,
                    "org/apache/kafka/common/network/Selector", selector));
            if (resolver > 0) {
                assertNotNull(kafka.initialized("clients.DefaultHostResolver"));
                expected.put("org/apache/kafka/clients/DefaultHostResolver", resolver);
            }
            assertEquals(expected, kafka.places());
        }
    }

    /** The bootstrap name does not resolve, so all hooks must work together before anything arrives. */
    @ParameterizedTest
    @ValueSource(strings = {"2.0.1", "2.4.1", "2.8.2", "3.0.2", "3.4.1", "3.9.2", "4.0.2", "4.4.0"})
    void aClientDialsThroughItsOwnMap(String version) throws Exception {
        try (HookedKafka kafka = HookedKafka.version(version)) {
            dialThroughMap(kafka);
        }
    }

    @Test
    void aRelocatedClientDialsThroughItsOwnMap() throws Exception {
        try (HookedKafka kafka = HookedKafka.relocated("3.9.2", "org/example/shaded/")) {
            dialThroughMap(kafka);
        }
    }

    private static void dialThroughMap(HookedKafka kafka) throws Exception {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(kafka);
        try (ServerSocket broker = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            broker.setSoTimeout(20_000);
            String rule = "kafka-1.invalid:9092 = 127.0.0.1:" + broker.getLocalPort();
            Map<String, Object> properties = Map.of("bootstrap.servers", "kafka-1.invalid:9092", "brokernat.map", rule);
            Class<?> type = kafka.initialized("clients.admin.AdminClient");
            try (AutoCloseable client = (AutoCloseable) type.getMethod("create", Map.class).invoke(null, properties);
                    Socket dialled = broker.accept()) {
                assertNotNull(client);
                assertNotNull(dialled);
            }
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    @Test
    void leavesOtherClassesAlone() {
        HookTransformer transformer = new HookTransformer();
        assertNull(transformer.transform(null, "org/example/Myorg/apache/kafka/clients/ClientUtils", null, null, new byte[0]));
        assertNull(transformer.transform(null, "java/nio/channels/Selector", null, null, new byte[0]));
        assertNull(transformer.transform(null, null, null, null, new byte[0]));
    }

    @Test
    void aClassFileFromTheFutureStaysAsItIs() {
        assertNull(new HookTransformer().transform(null, "org/apache/kafka/clients/ClientUtils", null, null, new byte[] {1, 2, 3, 4, 5, 6, 7, 8}));
    }
}
