package io.brokernat.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.brokernat.agent.address.Host;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MapsTest {
    private final Maps maps = new Maps(null);

    @Test
    void equalMapsAreOneMapHoweverTheyAreWritten() {
        assertSame(learn("a:1=b:1,c=d"), learn(" A:1 = b:1\nc = d # same"));
        assertNotSame(learn("a:1=b:1"), maps.learn(Map.of("brokernat.map", "a:1=b:1", "brokernat.unmapped", "pass")));
    }

    @Test
    void aClientIsForgottenWithItsChannelBuilder() throws InterruptedException {
        Object builder = new Object();
        maps.adopt(Map.of("brokernat.map", "a:1=b:1"), builder);
        WeakReference<Object> forgotten = new WeakReference<>(builder);
        builder = null;
        long deadline = System.nanoTime() + 10_000_000_000L;
        while (forgotten.get() != null && System.nanoTime() < deadline) {
            System.gc();
            Thread.onSpinWait();
        }
        assertSame(null, forgotten.get());
    }

    @Test
    void madeUpMapsAreBoundedButALiveClientKeepsItsOwn() {
        Object builder = new Object();
        maps.adopt(Map.of("brokernat.map", "first:1=b:1"), builder);
        for (int port = 1; port <= 1000; port++) {
            learn("other:" + port + "=b:1");
        }
        assertTrue(maps.status().size() <= 257, () -> maps.status().size() + " maps are kept");
        assertTrue(maps.anyKnows(Host.of("first")));
        assertEquals("a client without client.id", maps.clientOf(builder).name);
    }

    @Test
    void aMapThatCannotBeUsedIsForgottenWithItsClientOrOnceItCanBe(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("hq.rules");
        Map<String, String> properties = Map.of("brokernat.map", "file:" + file);
        maps.read(properties);
        assertFalse(maps.anyUnusable());
        maps.learn(properties);
        assertTrue(maps.anyUnusable(), "its bootstrap names are looked up next");
        Files.writeString(file, "a:1 = b:1\n");
        maps.learn(properties);
        assertFalse(maps.anyUnusable());

        Object builder = new Object();
        maps.adopt(Map.of("brokernat.map", "a:1"), builder);
        assertTrue(maps.anyUnusable());
        maps.adopt(Map.of("brokernat.map", "a:1=b:1"), builder);
        assertFalse(maps.anyUnusable());
    }

    private MapInForce learn(String text) {
        return maps.learn(Map.of("brokernat.map", text));
    }
}
