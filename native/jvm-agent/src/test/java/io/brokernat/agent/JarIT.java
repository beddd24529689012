package io.brokernat.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The jar as people get it, in JVMs of their own. */
class JarIT {
    private static final Path JAR = Path.of("target/brokernat-agent.jar").toAbsolutePath();
    private static final int MAX_BYTES = 500_000;
    private static final String OWN_MAP = "brokernat.map=kafka-1.invalid:9092=127.0.0.1:PORT";

    @Test
    void isSmallAndBringsNothingUnderForeignNames() throws Exception {
        assertTrue(Files.size(JAR) <= MAX_BYTES, () -> JAR + " is larger than " + MAX_BYTES);
        try (JarFile jar = new JarFile(JAR.toFile())) {
            List<String> foreign = jar.stream()
                    .filter(entry -> !entry.isDirectory())
                    .map(entry -> entry.getName())
                    .filter(name -> !name.startsWith("io/brokernat/agent/") && !name.startsWith("META-INF/licenses/"))
                    .collect(Collectors.toList());
            assertEquals(List.of("META-INF/MANIFEST.MF"), foreign);
            assertNotNull(jar.getEntry("META-INF/licenses/asm.txt"));
            assertNotNull(jar.getEntry("META-INF/licenses/byte-buddy-agent.txt"));
            assertNotNull(jar.getEntry("META-INF/licenses/brokernat-agent.txt"));
        }
    }

    @Test
    void asJavaAgentServesAClientWithItsOwnMap() throws Exception {
        String output = guest(List.of("-javaagent:" + JAR), List.of(OWN_MAP));
        assertTrue(output.contains("dialled by KafkaAdminClient true"), output);
        assertTrue(output.contains("loader=javaagent"), output);
        assertTrue(output.contains("INFO io.brokernat.agent - translated kafka-1.invalid:9092 -> 127.0.0.1:"), output);
    }

    @Test
    void asReporterAttachesItselfBeforeTheFirstConnection() throws Exception {
        // The map must be known before the bootstrap name is looked up, so the one that does not resolve comes with an agent only.
        String output = guest(
                List.of("-XX:+IgnoreUnrecognizedVMOptions", "-XX:+EnableDynamicAgentLoading"),
                List.of("brokernat.map=127.0.0.1:1=127.0.0.1:PORT", "metric.reporters=io.brokernat.agent.ReporterLoader"));
        assertTrue(output.contains("dialled by KafkaAdminClient true"), output);
        assertTrue(output.contains("loader=attach"), output);
    }

    @Test
    void whereNobodyMayAttachTheReporterSaysWhatToDo() throws Exception {
        String output = guest(List.of("-XX:+DisableAttachMechanism"), List.of(OWN_MAP, "metric.reporters=io.brokernat.agent.ReporterLoader"));
        assertTrue(output.contains("the brokernat agent cannot be loaded into this running JVM"), output);
        assertTrue(output.contains("-javaagent:" + JAR), output);
    }

    @Test
    void aSecondAgentChangesNothingAndSaysSo() throws Exception {
        String output = guest(List.of("-javaagent:" + JAR, "-javaagent:" + JAR + "=a:1=b:1"), List.of(OWN_MAP));
        assertTrue(output.contains("dialled by KafkaAdminClient true"), output);
        assertEquals(1, output.lines().filter(line -> line.contains("runs already")).count(), output);
    }

    @Test
    void theReporterBesideAJavaAgentIsNoSecondAgent() throws Exception {
        String output = guest(List.of("-javaagent:" + JAR), List.of(OWN_MAP, "metric.reporters=io.brokernat.agent.ReporterLoader"));
        assertTrue(output.contains("dialled by KafkaAdminClient true"), output);
        assertTrue(output.contains("loader=javaagent"), output);
        assertFalse(output.contains("[brokernat]"), output);
    }

    @Test
    void twoProgramsWithClassLoadersOfTheirOwnShareOneAgentAndNoMap() throws Exception {
        List<String> jars = Arrays.stream(classPath().split(File.pathSeparator)).filter(entry -> entry.endsWith(".jar")).collect(Collectors.toList());
        List<String> options = List.of("-XX:+IgnoreUnrecognizedVMOptions", "-XX:+EnableDynamicAgentLoading");
        String output = java(options, Path.of("target/test-classes").toAbsolutePath().toString(), "io.brokernat.agent.TwoGuests", jars);
        assertTrue(output.contains("first dialled true, second dialled true"), output);
        assertTrue(output.contains("one class false"), output);
        assertEquals(1, output.lines().filter(line -> line.contains("loader=attach")).count(), output);
        assertFalse(output.contains("[brokernat]"), output);
    }

    @Test
    void anArgumentThatCannotBeUsedRefusesAllButClientsWithTheirOwnMap() throws Exception {
        List<String> agent = List.of("-javaagent:" + JAR + "=127.0.0.1:1=;unmapped=fail");
        String own = guest(agent, List.of(OWN_MAP));
        assertTrue(own.contains("dialled by KafkaAdminClient true"), own);
        assertEquals(1, own.lines().filter(line -> line.startsWith("[brokernat]")).count(), own);
        assertTrue(own.contains("so every client without a brokernat.map of its own is refused: line 1, column 1, rule `127.0.0.1:1=`"), own);

        String optedOut = guest(agent, List.of("bootstrap.servers=127.0.0.1:PORT", "brokernat.map="));
        assertTrue(optedOut.contains("dialled by KafkaAdminClient true"), optedOut);

        // The bootstrap server itself could be dialled.
        String without = guest(agent, List.of("bootstrap.servers=127.0.0.1:PORT"));
        assertTrue(without.contains("nobody dialled"), without);
        assertTrue(without.contains("refused: the address map of this JVM (the agent's argument) cannot be used: line 1, column 1"), without);
    }

    private static String guest(List<String> options, List<String> properties) throws Exception {
        return java(options, classPath(), "io.brokernat.agent.Guest", properties);
    }

    private static String java(List<String> options, String classPath, String program, List<String> words) throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(options);
        command.addAll(List.of("-cp", classPath, program));
        command.addAll(words);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        assertFalse(output.contains("NoClassDefFoundError"), output);
        return output;
    }

    /** The packaged jar in the place of target/classes and its libraries, and a program without Spark. */
    private static String classPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.endsWith("target/classes") && !entry.contains("org/ow2/asm") && !entry.contains("byte-buddy")
                        && !entry.contains("spark"))
                .collect(Collectors.joining(File.pathSeparator, JAR + File.pathSeparator, ""));
    }
}
