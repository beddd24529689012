package io.brokernat.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LoaderPropertyTest {
    private static final String LOADER = "io.brokernat.agent.ReporterLoader";

    @Test
    void takesOnlyOurLoaderOut() {
        assertEquals(List.of("a.B"), without(List.of("a.B", LOADER)));
        assertEquals(List.of(), without(List.of(LOADER)));
        assertEquals("a.B", without("a.B, " + LOADER));
        assertEquals(List.of("a.B"), without(List.of("a.B")));
        assertEquals(null, without(null));
    }

    private static Object without(Object reporters) {
        Map<String, Object> values = new HashMap<>();
        values.put("metric.reporters", reporters);
        LoaderProperty.removeFrom(values);
        return values.get("metric.reporters");
    }
}
