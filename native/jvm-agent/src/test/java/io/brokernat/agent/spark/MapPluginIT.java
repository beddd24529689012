package io.brokernat.agent.spark;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The plugin in the jar as Spark ships it, in JVMs of their own. */
class MapPluginIT {
    private static final Path JAR = Path.of("target/brokernat-agent.jar").toAbsolutePath();
    private static final Map<String, String> RULES = Map.of(MapPlugin.MAP, "192.168.1.23:9092=172.10.1.40:9093", MapPlugin.UNMAPPED, "fail");
    private static final String FINGERPRINT = "[0-9a-f]{64}";

    @Test
    void loadsTheAgentWithTheMapOfTheEnvironment() throws Exception {
        String output = executor(RULES);
        assertTrue(output.matches("(?s).*agent [0-9.]+, map " + FINGERPRINT + "\\R"), output);
        assertTrue(output.contains("driver's part: null"), output);
    }

    @Test
    void withoutAMapNothingIsLoaded() throws Exception {
        String output = executor(Map.of());
        assertTrue(output.contains("agent null, map null"), output);
    }

    @Test
    void whereTheMapCannotBeAppliedTheExecutorIsRefused() throws Exception {
        String attach = executor(RULES, "-XX:+DisableAttachMechanism");
        assertTrue(attach.contains("[brokernat] this executor is refused, because its map cannot be applied: the brokernat agent cannot be loaded"), attach);
        assertFalse(attach.contains("driver's part"), attach);
        String other = executor(RULES, "-javaagent:" + JAR + "=192.168.1.23:9092=172.10.1.40:1");
        assertTrue(other.contains("this executor is refused, because its map cannot be applied: a brokernat agent runs in this JVM already, with another map"), other);
        assertFalse(other.contains("driver's part"), other);
        String same = executor(RULES, "-javaagent:" + JAR + "=" + RULES.get(MapPlugin.MAP) + ";unmapped=fail");
        assertTrue(same.matches("(?s).*agent [0-9.]+, map " + FINGERPRINT + "\\R"), same);
    }

    @Test
    void aMapThatPassesWhatItDoesNotNameLetsTheExecutorGoOnWithAWarning() throws Exception {
        Map<String, String> passes = Map.of(MapPlugin.MAP, RULES.get(MapPlugin.MAP), MapPlugin.UNMAPPED, "pass");
        String output = executor(passes, "-XX:+DisableAttachMechanism");
        assertTrue(output.contains("[brokernat] nothing is translated in this executor: the brokernat agent cannot be loaded"), output);
        assertTrue(output.contains("agent null, map null"), output);
    }

    private static String executor(Map<String, String> environment, String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", classPath(), Executor.class.getName(), JAR.toString()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return output;
    }

    /** Spark's interfaces and this program; the agent comes by the jar alone. */
    private static String classPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> entry.endsWith("target/test-classes") || entry.contains("spark"))
                .collect(Collectors.joining(File.pathSeparator));
    }
}
