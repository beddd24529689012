package io.brokernat.agent.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

class AddressMapTest {
    @Test
    void countsTheUseOfEachRuleSoThatOneThatNeverWasCanBeReported() throws Exception {
        AddressMap map = AddressMap.parse("a:1 = x:1, b = y");
        map.translate(Endpoint.parse("b:7"));
        map.translate(Endpoint.parse("b:8"));
        map.translate(Endpoint.parse("c:1"));
        map.find(Endpoint.parse("a:1"));
        assertEquals(Map.of("a:1=x:1", 0L, "b=y", 2L), map.uses());
    }

    @Test
    void tenThousandRulesAreReadAndKeptInOrder() throws Exception {
        StringBuilder text = new StringBuilder();
        for (int number = 0; number < 10_000; number++) {
            text.append("10.").append(number / 250).append('.').append(number % 250).append(".1:9092 = gateway:").append(number + 1).append('\n');
        }
        AddressMap map = AddressMap.parse(text + "*.internal = gateway, 10.0.0.0/8 = 11.0.0.0/8");
        assertEquals("gateway:10000", map.translate(Endpoint.parse("10.39.249.1:9092")).endpoint.toString());
        assertEquals("11.39.249.2:9092", map.translate(Endpoint.parse("10.39.249.2:9092")).endpoint.toString());
        assertTrue(map.knows(Host.of("a.internal")));
        assertEquals(map.fingerprint(), AddressMap.parse(map.toString()).fingerprint());
    }

    @Test
    void namesEveryWrongRuleWithItsPlace() {
        MapException error = assertThrows(MapException.class, () -> AddressMap.parse("a:1 = b:1, c\n  d:0 = e:1 # f"));
        assertTrue(error.getMessage().contains("line 1, column 12, rule `c`: there is no `=`; write `advertised = reachable`"), error.getMessage());
        assertTrue(error.getMessage().contains("line 2, column 3, rule `d:0 = e:1`: `0` is not a port"), error.getMessage());
    }

    @Test
    void aHostOutsideTheGrammarIsAHostThatNoRuleHas() throws Exception {
        AddressMap map = AddressMap.parse("10.0.0.0/8 = 10.0.0.0/8, *.internal = gw");
        assertEquals(null, map.translate(new Endpoint(Host.of("fe80::1%eth0"), 1)));
        assertEquals("gw:1", map.translate(new Endpoint(Host.of("A.B.Internal."), 1)).endpoint.toString());
    }
}
