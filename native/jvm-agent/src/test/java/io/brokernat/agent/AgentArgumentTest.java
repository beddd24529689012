package io.brokernat.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.brokernat.agent.address.MapException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AgentArgumentTest {
    @TempDir
    Path directory;

    @Test
    void rulesWithTheDefaultForAWholeJvm() throws MapException {
        MapInForce map = AgentArgument.parse("a:1=b:1,c=d");
        assertEquals("a:1=b:1,c=d", map.map.toString());
        assertEquals(Unmapped.PASS, map.unmapped);
        assertEquals(Unmapped.FAIL, AgentArgument.parse("a:1=b:1;unmapped=fail").unmapped);
    }

    @Test
    void withoutRulesOnlyClientsWithAMapOfTheirOwnAreServed() throws MapException {
        assertNull(AgentArgument.parse(null));
        assertNull(AgentArgument.parse(""));
        assertNull(AgentArgument.parse(";unmapped=pass"));
    }

    @Test
    void toRefuseWhatNoRuleNamesThereMustBeARule() {
        assertTrue(messageOf(";unmapped=fail").contains("there is no rule before `;unmapped=fail`"));
        assertTrue(messageOf(" ;unmapped=fail").contains("there is no rule before `;unmapped=fail`"));
    }

    @Test
    void refusesOptionsThatItDoesNotKnow() {
        assertTrue(messageOf("a:1=b:1;umapped=fail").contains("`umapped=fail` is not an option of the agent"));
        assertTrue(messageOf("a:1=b:1;unmapped=maybe").contains("`fail` or `pass`, not `maybe`"));
    }

    @Test
    void readsAFileOfRules() throws Exception {
        Path file = Files.writeString(directory.resolve("map.rules"), "# brokers\na:1 = b:1   # one\n\nc = d\n");
        assertEquals("a:1=b:1,c=d", AgentArgument.parse("file:" + file + ";unmapped=fail").map.toString());
    }

    @Test
    void aYamlFileGetsTheCommandThatWritesRules() throws Exception {
        Path file = Files.writeString(directory.resolve("brokernat.yaml"), "clusters:\n  hq:\n    address_map:\n      - a:1 = b:1\n");
        assertTrue(messageOf("file:" + file).contains("looks like YAML"), messageOf("file:" + file));
        assertTrue(messageOf("file:" + file).contains("brokernat map export"));
    }

    @Test
    void namesTheFileThatIsMissingAndTheLineThatIsWrong() throws Exception {
        assertTrue(messageOf("file:" + directory.resolve("none")).contains("none"));
        Path file = Files.writeString(directory.resolve("map.rules"), "a:1 = b:1\na:1 =\n");
        assertTrue(messageOf("file:" + file).contains(file + "`: line 2, column 1"), messageOf("file:" + file));
    }

    private static String messageOf(String argument) {
        return assertThrows(MapException.class, () -> AgentArgument.parse(argument)).getMessage();
    }
}
