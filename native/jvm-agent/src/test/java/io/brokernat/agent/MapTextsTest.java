package io.brokernat.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.math.BigInteger;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Texts of a map that must refuse every connection, as the agent's argument and as a client's own map; the table is shared with C and Python. */
class MapTextsTest {
    private static final Path TABLE = Path.of("../../tests/vectors/map_texts.json");
    private static final InetSocketAddress ADVERTISED = new InetSocketAddress(InetAddress.getLoopbackAddress(), 9092);

    @TempDir
    Path folder;

    @TestFactory
    Stream<DynamicTest> table() throws IOException {
        return StreamSupport.stream(JsonParser.parseString(Files.readString(TABLE)).getAsJsonArray().spliterator(), false)
                .map(JsonElement::getAsJsonObject)
                .map(row -> DynamicTest.dynamicTest(row.get("name").getAsString(), () -> check(row)));
    }

    private void check(JsonObject row) throws Exception {
        Path own = Files.createTempDirectory(folder, "row");
        prepare(row.getAsJsonObject("file"), own.resolve("hq.rules"));
        String map = row.get("map").getAsString().replace("{folder}", own.toString());
        String unmapped = row.has("unmapped") ? row.get("unmapped").getAsString() : null;
        Map<String, String> properties = new HashMap<>(Map.of("brokernat.map", map));
        if (unmapped != null) {
            properties.put("brokernat.unmapped", unmapped);
        }
        MapInForce global = Agent.global(unmapped == null ? map : map + ";unmapped=" + unmapped);
        if (row.get("reason").isJsonNull()) {
            assertEquals(null, global.problem);
            assertEquals(null, new Maps(null).learn(properties).problem);
            return;
        }
        String ofJvm = refusal(global, Map.of());
        String ofClient = refusal(null, properties);
        for (JsonElement word : row.getAsJsonArray("reason")) {
            String expected = word.getAsString().replace("{folder}", own.toString());
            assertTrue(ofJvm.contains(expected), () -> ofJvm + " lacks " + expected);
            assertTrue(ofClient.contains(expected), () -> ofClient + " lacks " + expected);
        }
        assertTrue(ofJvm.startsWith("refused: the address map of this JVM (the agent's argument) cannot be used: "), ofJvm);
        assertTrue(ofClient.startsWith("refused: the address map of a client without client.id cannot be used: "), ofClient);
    }

    /** Bootstrap connections have negative ids, and are refused like all others. */
    private static String refusal(MapInForce global, Map<String, String> properties) {
        Services agent = new Services(global);
        Object builder = new Object();
        agent.maps.adopt(properties, builder);
        assertThrows(ConnectException.class, () -> agent.dialler.dial(ADVERTISED, builder, "-1"));
        return assertThrows(ConnectException.class, () -> agent.dialler.dial(ADVERTISED, builder, "1")).getMessage();
    }

    private static void prepare(JsonObject file, Path path) throws IOException {
        if (file == null) {
            return;
        }
        if (file.has("text")) {
            Files.writeString(path, file.get("text").getAsString());
        } else if (file.has("hex")) {
            byte[] signed = new BigInteger("01" + file.get("hex").getAsString(), 16).toByteArray();
            Files.write(path, Arrays.copyOfRange(signed, 1, signed.length));
        } else if (file.get("kind").getAsString().equals("folder")) {
            Files.createDirectory(path);
        } else if (file.get("kind").getAsString().equals("loop")) {
            Files.createSymbolicLink(path, path);
        } else {
            Files.writeString(path, "a:1 = b:1\n");
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("---------"));
            assumeFalse(Files.isReadable(path), "root may read every file");
        }
    }

    @Test
    void underAnUnusableArgumentAClientsOwnMapHoldsAndAnEmptyOneOptsOut() throws Exception {
        Services agent = new Services(Agent.global("10.0.0.1:9092=;unmapped=fail"));
        Object own = new Object();
        Object without = new Object();
        agent.maps.adopt(Map.of("brokernat.map", "localhost:9092=127.0.0.7:1"), own);
        agent.maps.adopt(Map.of("brokernat.map", ""), without);
        assertEquals(1, agent.dialler.dial(ADVERTISED, own, "1").getPort());
        assertSame(ADVERTISED, agent.dialler.dial(ADVERTISED, without, "1"));
        // A broker that runs in this JVM.
        assertSame(ADVERTISED, agent.dialler.dial(ADVERTISED, new Object(), "1"));
    }

    @Test
    void theRefusalComesBeforeTheSearchForABootstrapNameThatNobodyKnows() throws Exception {
        Services agent = new Services(Agent.global("10.0.0.1:9092="));
        Object builder = new Object();
        agent.maps.adopt(Map.of(), builder);
        InetSocketAddress unresolved = InetSocketAddress.createUnresolved("kafka-1.invalid", 9092);
        InetSocketAddress placeholder = agent.names.bootstrap(unresolved);
        assertNotEquals(unresolved, placeholder);
        assertThrows(ConnectException.class, () -> agent.dialler.dial(placeholder, builder, "-1"));
    }
}
