package io.brokernat.agent;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Who is translated, who is refused, who is left alone. Names end in .invalid: RFC 6761 keeps them from resolving. */
class DiallerTest {
    private final Object builder = new Object();

    @Test
    void keepsTheOriginalHostAsTheNameThatTlsAndSaslSee() throws IOException {
        Services agent = agent(null, Map.of("brokernat.map", "kafka-1.invalid:9092 = 127.0.0.7:19092, 10.0.0.1 = 127.0.0.8"));
        InetSocketAddress named = dial(agent, agent.names.resolve("kafka-1.invalid")[0], 9092);
        assertEquals("kafka-1.invalid/127.0.0.7:19092", named.toString());
        assertEquals("kafka-1.invalid", named.getAddress().getHostName());
        InetSocketAddress literal = dial(agent, InetAddress.getByName("10.0.0.1"), 9093);
        assertEquals("10.0.0.1", literal.getAddress().getHostName());
        assertArrayEquals(new byte[] {127, 0, 0, 8}, literal.getAddress().getAddress());
        assertEquals(9093, literal.getPort());
    }

    @Test
    void aClientsOwnMapReplacesTheGlobalOneAndAnEmptyOneOptsOut() throws IOException {
        InetAddress advertised = InetAddress.getByName("10.0.0.1");
        assertEquals(1, dial(agent("10.0.0.1:9092=127.0.0.1:1", Map.of()), advertised, 9092).getPort());
        assertEquals(2, dial(agent("10.0.0.1:9092=127.0.0.1:1", Map.of("brokernat.map", "10.0.0.1:9092=127.0.0.1:2")), advertised, 9092).getPort());
        assertEquals(9092, dial(agent("10.0.0.1:9092=127.0.0.1:1", Map.of("brokernat.map", " ")), advertised, 9092).getPort());
    }

    @Test
    void twoClientsOfOneJvmTranslateTheSameAddressDifferently() throws IOException {
        Services agent = agent(null, Map.of("brokernat.map", "10.0.0.1:9092=127.0.0.1:1"));
        Object other = new Object();
        agent.maps.adopt(Map.of("brokernat.map", "10.0.0.1:9092=127.0.0.1:2"), other);
        InetSocketAddress advertised = new InetSocketAddress(InetAddress.getByName("10.0.0.1"), 9092);
        assertEquals(1, agent.dialler.dial(advertised, builder, "1").getPort());
        assertEquals(2, agent.dialler.dial(advertised, other, "1").getPort());
    }

    @Test
    void refusesWhatTheMapDoesNotNameWithTheRuleToAdd() throws IOException {
        Services agent = agent(null, Map.of("brokernat.map", "a:1=b:1", "client.id", "audit"));
        InetAddress placeholder = agent.names.resolve("kafka-4.invalid")[0];
        ConnectException refusal = assertThrows(ConnectException.class, () -> dial(agent, placeholder, 9092));
        assertEquals(
                "refused: kafka-4.invalid:9092 has no rule in the address map of client audit;"
                        + " add \"kafka-4.invalid:9092 = REACHABLE:9092\" or set brokernat.unmapped=pass",
                refusal.getMessage());
    }

    @Test
    void bootstrapAddressesAreNeverUnmapped() throws IOException {
        Services agent = agent(null, Map.of("brokernat.map", "a:1=b:1", "bootstrap.servers", "PLAINTEXT://127.0.0.1:5,[::1]:6"));
        InetSocketAddress listed = new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 5);
        assertSame(listed, agent.dialler.dial(listed, builder, "7"));
        InetSocketAddress v6 = new InetSocketAddress(InetAddress.getByName("::1"), 6);
        assertSame(v6, agent.dialler.dial(v6, builder, "7"));
        InetSocketAddress resolved = new InetSocketAddress(InetAddress.getByName("127.0.0.9"), 5);
        assertSame(resolved, agent.dialler.dial(resolved, builder, "-1"));
        assertThrows(ConnectException.class, () -> agent.dialler.dial(resolved, builder, "2147483646"));
        assertThrows(ConnectException.class, () -> agent.dialler.dial(resolved, builder, "+3"));
    }

    @Test
    void passingOnAPlaceholderAsksDnsAfterAll() throws IOException {
        Services agent = agent("localhost:1=127.0.0.9:1", Map.of("brokernat.map", "kafka-1.invalid=127.0.0.1", "brokernat.unmapped", "pass"));
        InetAddress placeholder = agent.names.resolve("localhost")[0];
        assertArrayEquals(new byte[] {(byte) 192, 0, 2, 1}, placeholder.getAddress());
        assertTrue(dial(agent, placeholder, 2).getAddress().isLoopbackAddress());
        InetSocketAddress unknown = new InetSocketAddress(InetAddress.getByAddress("none.invalid", new byte[] {(byte) 192, 0, 2, 1}), 2);
        assertThrows(UnknownHostException.class, () -> agent.dialler.dial(unknown, builder, "1"));
    }

    @Test
    void aBrokerInThisJvmIsNoClient() throws IOException {
        Services agent = agent("10.0.0.1:9092=127.0.0.1:1;unmapped=fail", Map.of());
        InetSocketAddress advertised = new InetSocketAddress(InetAddress.getByName("10.0.0.1"), 9092);
        assertSame(advertised, agent.dialler.dial(advertised, new Object(), "1"));
    }

    @Test
    void aMapThatCannotBeReadRefusesEveryConnectionWithAllReasons() throws IOException {
        Services agent = agent("10.0.0.1=127.0.0.1", Map.of("brokernat.map", "a:1,b:1=c"));
        ConnectException refusal = assertThrows(ConnectException.class, () -> dial(agent, InetAddress.getByName("10.0.0.1"), 1));
        assertTrue(refusal.getMessage().contains("rule `a:1`"), refusal.getMessage());
        assertTrue(refusal.getMessage().contains("rule `b:1=c`"), refusal.getMessage());
        Services wrongOption = agent("10.0.0.1=127.0.0.1", Map.of("brokernat.unmapped", "no"));
        assertThrows(ConnectException.class, () -> dial(wrongOption, InetAddress.getByName("10.0.0.1"), 1));
    }

    @Test
    void aTargetMayBeANameThatIsLookedUpAtEachConnect() throws IOException {
        Services agent = agent(null, Map.of("brokernat.map", "kafka-1.invalid:1=localhost:2,kafka-2.invalid:1=none.invalid:2"));
        InetSocketAddress dialled = dial(agent, agent.names.resolve("kafka-1.invalid")[0], 1);
        assertTrue(dialled.getAddress().isLoopbackAddress());
        assertEquals("kafka-1.invalid", dialled.getHostString());
        UnknownHostException unknown = assertThrows(UnknownHostException.class, () -> dial(agent, agent.names.resolve("kafka-2.invalid")[0], 1));
        assertTrue(unknown.getMessage().contains("none.invalid") && unknown.getMessage().contains("kafka-2.invalid"), unknown.getMessage());
    }

    @Test
    void withoutAMapNamesFailAsTheyDoWithoutTheAgent() throws IOException {
        Services agent = agent(null, Map.of());
        assertThrows(UnknownHostException.class, () -> agent.names.resolve("none.invalid"));
        InetSocketAddress unresolved = InetSocketAddress.createUnresolved("none.invalid", 1);
        assertSame(unresolved, agent.names.bootstrap(unresolved));
    }

    @Test
    void anUnresolvedBootstrapNameThatAMapKnowsGetsAPlaceholder() throws IOException {
        Services agent = agent(null, Map.of("brokernat.map", "kafka-1.invalid:9092=127.0.0.1:2"));
        InetSocketAddress placeholder = agent.names.bootstrap(InetSocketAddress.createUnresolved("kafka-1.invalid", 9092));
        assertEquals("kafka-1.invalid/127.0.0.1:2", agent.dialler.dial(placeholder, builder, "-1").toString());
    }

    @Test
    void inspectionSaysWhatWouldBeDialledAndCountsNothing() {
        Services agent = agent(null, Map.of());
        Map<String, String> properties = Map.of("brokernat.map", "a:1=b:1", "bootstrap.servers", "c:1");
        Client client = new Client(properties, agent.maps.learn(properties));
        assertEquals("b:1", agent.dialler.plan(client, "a:1"));
        assertEquals("c:1", agent.dialler.plan(client, "c:1"));
        assertEquals("", agent.dialler.plan(client, "d:1"));
        assertEquals(Map.of("a:1=b:1", 0L), client.map.map.uses());
    }

    @Test
    void inspectionSaysThatAMapThatCannotBeUsedDialsNotEvenTheBootstrapServers() {
        Services agent = agent(null, Map.of());
        Map<String, String> properties = Map.of("brokernat.map", "a:1", "bootstrap.servers", "c:1");
        Client client = new Client(properties, agent.maps.learn(properties));
        assertEquals("", agent.dialler.plan(client, "c:1"));
    }

    private Services agent(String argument, Map<String, String> properties) {
        try {
            Services agent = new Services(AgentArgument.parse(argument));
            agent.maps.adopt(new HashMap<>(properties), builder);
            return agent;
        } catch (io.brokernat.agent.address.MapException e) {
            throw new AssertionError(e);
        }
    }

    private InetSocketAddress dial(Services agent, InetAddress address, int port) throws IOException {
        return agent.dialler.dial(new InetSocketAddress(address, port), builder, "1");
    }
}
