package io.brokernat.agent.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The contract with the other languages. */
class VectorsTest {
    private static final Path VECTORS = Path.of("../../tests/vectors/address_map");

    @TestFactory
    Stream<DynamicTest> vectors() throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(VECTORS)) {
            files = all.filter(file -> file.toString().endsWith(".json")).sorted().collect(Collectors.toList());
        }
        List<DynamicTest> tests = new ArrayList<>();
        for (Path file : files) {
            for (JsonElement element : JsonParser.parseString(Files.readString(file)).getAsJsonArray()) {
                JsonObject vector = element.getAsJsonObject();
                tests.add(DynamicTest.dynamicTest(file.getFileName() + ": " + vector.get("name").getAsString(), () -> check(vector)));
            }
        }
        assertTrue(tests.size() > 100, () -> "only " + tests.size() + " vectors");
        return tests.stream();
    }

    private static void check(JsonObject vector) throws MapException, NotationException {
        String text = vector.get("text").getAsString();
        if (!vector.get("valid").getAsBoolean()) {
            assertEquals(strings(vector.getAsJsonArray("errors")), withoutTemplates(kinds(text)));
            return;
        }
        if (vector.has("needs_node_id") && vector.get("needs_node_id").getAsBoolean()) {
            assertEquals(List.of("needs-node-id"), kinds(text).stream().distinct().collect(Collectors.toList()));
            return;
        }
        AddressMap map = AddressMap.parse(text);
        assertEquals(vector.get("canonical").getAsString(), map.toString());
        assertEquals(vector.get("fingerprint").getAsString(), map.fingerprint());
        assertEquals(map.toString(), AddressMap.parse(map.toString()).toString());
        for (JsonElement lookup : vector.getAsJsonArray("lookups")) {
            check(map, lookup.getAsJsonObject());
        }
    }

    private static void check(AddressMap map, JsonObject lookup) throws NotationException {
        Endpoint endpoint = Endpoint.parse(lookup.get("endpoint").getAsString());
        Translation translation = map.translate(endpoint);
        String reachable = lookup.get("reachable").isJsonNull() ? null : lookup.get("reachable").getAsString();
        assertEquals(reachable, translation == null ? null : translation.endpoint.toString(), endpoint.toString());
        assertTrue(translation == null || map.knows(endpoint.host()), "a host that is translated is known");
    }

    private static List<String> kinds(String text) {
        return assertThrows(MapException.class, () -> AddressMap.parse(text)).faults().stream()
                .map(fault -> fault.fault().kind())
                .collect(Collectors.toList());
    }

    /** Templates are right where the map is parsed, and only refused where it is used. */
    private static List<String> withoutTemplates(List<String> kinds) {
        return kinds.stream().filter(kind -> !kind.equals("needs-node-id")).collect(Collectors.toList());
    }

    private static List<String> strings(JsonArray array) {
        List<String> strings = new ArrayList<>();
        array.forEach(element -> strings.add(element.getAsString()));
        return strings;
    }
}
