package io.brokernat.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A fault of ours in Kafka's classes: never an exception in a constructor, and never a connection past a map. */
class HookTest {
    private final InetSocketAddress advertised = new InetSocketAddress("127.0.0.1", 9092);
    private final Object builder = new Object();
    private final Services services = new Services(null);

    @Test
    void aClientWhoseMapIsLearnedAndThatCannotBeAdoptedIsRefused() {
        call(Hook.LEARN, Map.of("brokernat.map", "10.0.0.1:9092=127.0.0.1:1", "brokernat.unmapped", "pass"), new HashMap<>());
        assertSame(builder, call(Hook.ADOPT, builder, new Unreadable()));
        ConnectException refusal = assertThrows(ConnectException.class, () -> call(Hook.CONNECT, advertised, builder, "1"));
        assertTrue(refusal.getMessage().contains("fault of the brokernat agent in adopt"), refusal.getMessage());
    }

    @Test
    void aClientWhosePropertiesCannotBeReadAtAllIsRefused() {
        call(Hook.LEARN, "no map", new HashMap<>());
        call(Hook.ADOPT, builder, new Unreadable());
        assertThrows(ConnectException.class, () -> call(Hook.CONNECT, advertised, builder, "1"));
    }

    @Test
    void aClientThatIsAdoptedKeepsItsMapWhereOnlyKafkasWarningCannotBeSwitchedOff() {
        assertSame(builder, call(Hook.ADOPT, builder, new WithoutIgnore()));
        assertEquals(1, ((InetSocketAddress) call(Hook.CONNECT, advertised, builder, "1")).getPort());
    }

    @Test
    void whereNoMapIsKnownNothingIsChanged() {
        call(Hook.LEARN, Map.of("client.id", "plain"), new HashMap<>());
        call(Hook.ADOPT, builder, new Unreadable());
        assertSame(advertised, call(Hook.CONNECT, advertised, builder, "1"));
        assertNull(services.maps.clientOf(builder));
    }

    @Test
    void aConnectionOfAClientThatIsNotKnownYetIsRefusedWhereTheJvmsMapRefuses() throws Exception {
        Hook hook = new Hook(new Services(AgentArgument.parse("10.0.0.1:9092=127.0.0.1:1;unmapped=fail")));
        Object[] unreadable = {Hook.CONNECT, "no address", builder, "1"};
        ConnectException refusal = assertThrows(ConnectException.class, () -> hook.apply(unreadable));
        assertTrue(refusal.getMessage().contains("fault of the brokernat agent in connect"), refusal.getMessage());
        Hook passing = new Hook(new Services(AgentArgument.parse("10.0.0.1:9092=127.0.0.1:1")));
        assertSame("no address", passing.apply(unreadable));
    }

    private Object call(Object... call) {
        return new Hook(services).apply(call);
    }

    /** A config of some Kafka that nobody has seen. */
    public static class Unreadable {
        public Map<String, Object> originals() {
            throw new IllegalStateException("not today");
        }
    }

    /** As far as the map goes it is Kafka's. */
    public static class WithoutIgnore {
        public Map<String, Object> originals() {
            return Map.of("brokernat.map", "127.0.0.1:9092=127.0.0.1:1");
        }
    }
}
