package io.brokernat.agent.hook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.bytebuddy.agent.ByteBuddyAgent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** The hooks in the class files of real clients, relocated ones too. */
class HookTransformerTest {
    /** Where a release moves a hook's instruction, a number here changes; it must never become zero for Selector. */
    @ParameterizedTest
    @CsvSource({"2.0.1, 2, 0, 2, 1", "2.4.1, 5, 0, 3, 1", "2.8.2, 4, 1, 3, 1", "3.0.2, 4, 1, 3, 1", "3.4.1, 4, 1, 3, 1", "3.9.2, 4, 1, 3, 1",
        "4.0.2, 4, 1, 3, 1", "4.4.0, 4, 1, 3, 1"})
    void findsEveryPlaceAndTheResultVerifies(String version, int clientUtils, int resolver, int config, int selector) throws Exception {
        try (HookedKafka kafka = HookedKafka.version(version)) {
            // Initializing a class verifies it.
            assertNotNull(kafka.initialized("common.network.Selector"));
            assertNotNull(kafka.initialized("clients.ClientUtils"));
            assertNotNull(kafka.initialized("common.config.AbstractConfig"));
            Map<String, Integer> expected = new TreeMap<>(Map.of(
                    "org/apache/kafka/clients/ClientUtils", clientUtils,
                    "org/apache/kafka/common/config/AbstractConfig", config,
                    "org/apache/kafka/common/network/Selector", selector));
            if (resolver > 0) {
                assertNotNull(kafka.initialized("clients.DefaultHostResolver"));
                expected.put("org/apache/kafka/clients/DefaultHostResolver", resolver);
            }
            assertEquals(expected, kafka.places());
        }
    }

    /** The bootstrap name does not resolve, so all hooks must work together before anything arrives. */
    @ParameterizedTest
    @ValueSource(strings = {"2.0.1", "2.4.1", "2.8.2", "3.0.2", "3.4.1", "3.9.2", "4.0.2", "4.4.0"})
    void aClientDialsThroughItsOwnMap(String version) throws Exception {
        try (HookedKafka kafka = HookedKafka.version(version)) {
            dialThroughMap(kafka);
        }
    }

    /** Whatever the shading makes of {@code org/apache/kafka/}. */
    @ParameterizedTest
    @ValueSource(strings = {"org/example/shaded/org/apache/kafka/", "org/acme/hidden/kafka/", "kafkashaded/org/apache/kafka/", "k38/"})
    void aRelocatedClientDialsThroughItsOwnMap(String home) throws Exception {
        try (HookedKafka kafka = HookedKafka.relocated("3.9.2", home)) {
            dialThroughMap(kafka);
        }
    }

    private static void dialThroughMap(HookedKafka kafka) throws Exception {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(kafka);
        try (ServerSocket broker = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            broker.setSoTimeout(20_000);
            String rule = "kafka-1.invalid:9092 = 127.0.0.1:" + broker.getLocalPort();
            Map<String, Object> properties = Map.of("bootstrap.servers", "kafka-1.invalid:9092", "brokernat.map", rule);
            Class<?> type = kafka.initialized("clients.admin.AdminClient");
            try (AutoCloseable client = (AutoCloseable) type.getMethod("create", Map.class).invoke(null, properties);
                    Socket dialled = broker.accept()) {
                assertNotNull(client);
                assertNotNull(dialled);
            }
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    @Test
    void leavesOtherClassesAlone() {
        HookTransformer transformer = new HookTransformer(true);
        assertNull(transformer.transform(null, "org/example/Myclients/ClientUtils2", null, null, new byte[0]));
        assertNull(transformer.transform(null, "org/example/myclients/ClientUtils", null, null, new byte[0]));
        assertNull(transformer.transform(null, "java/nio/channels/Selector", null, null, new byte[0]));
        assertNull(transformer.transform(null, null, null, null, new byte[0]));
    }

    /** Another library's class of the same name, although it has the instructions of one hook; a JVM that refuses loads it, too. */
    @Test
    void aClassOfKafkasNameAndOtherCodeIsLeftAloneAndReportedOnce() {
        String name = "com/example/clients/ClientUtils";
        byte[] stranger = classFile(name, "createChannelBuilder", "()L" + "com/example/net/ChannelBuilder;");
        HookTransformer transformer = new HookTransformer(true);
        String reported = stderrOf(() -> {
            assertNull(transformer.transform(null, name, null, null, stranger));
            assertNull(transformer.transform(null, name, null, null, stranger));
        });
        assertEquals("[brokernat] com.example.clients.ClientUtils has the name of a class of Kafka and other code; it is left alone\n", reported);
        assertEquals(Map.of(), transformer.places());
    }

    /** Kafka's by its neighbours, and of no release that is known: where addresses are to be refused it must not be used. */
    @Test
    void aKafkaThatCannotBeHookedIsReportedAndKeptFromLoadingWhereAddressesAreRefused() {
        String name = "hidden/common/network/Selector";
        byte[] future = classFile(name, "dial", "()Lhidden/common/network/Selectable;");
        byte[] unreadable = future.clone();
        unreadable[7] = 127; // the class file's version
        for (byte[] bytes : List.of(future, unreadable)) {
            String reported = stderrOf(() -> assertNull(new HookTransformer(false).transform(null, name, null, null, bytes)));
            assertTrue(reported.startsWith("[brokernat] hidden.common.network.Selector is Kafka's in a form that this agent does not know"), reported);
            assertTrue(reported.contains("so its clients are NOT translated and NOT refused"), reported);
            HookTransformer closed = new HookTransformer(true);
            assertTrue(stderrOf(() -> assertEquals(0, closed.transform(null, name, null, null, bytes).length)).contains("so it is not loaded"));
        }
    }

    /** The agent comes late: the class is there, perhaps with connections. */
    @Test
    void aKafkaThatIsLoadedAlreadyAndCannotBeHookedFailsAtEachCallWhereAddressesAreRefused() throws Exception {
        Class<?> loaded = unknownSelector();
        Instrumentation jvm = ByteBuddyAgent.install();
        HookTransformer open = new HookTransformer(false);
        HookTransformer closed = new HookTransformer(true);
        try {
            String reported = stderrOf(() -> open.install(withOnly(jvm, loaded)));
            assertTrue(reported.contains("so its clients are NOT translated and NOT refused; known are"), reported);
            assertEquals("dialled", loaded.getMethod("dial").invoke(null));
            jvm.removeTransformer(open);

            String refused = stderrOf(() -> closed.install(withOnly(jvm, loaded)));
            assertEquals(1, refused.lines().count(), refused);
            assertTrue(refused.contains("so each call of it fails, because the agent's argument wants addresses refused"), refused);
            InvocationTargetException failed = assertThrows(InvocationTargetException.class, () -> loaded.getMethod("dial").invoke(null));
            assertInstanceOf(ConnectException.class, failed.getCause());
        } finally {
            jvm.removeTransformer(open);
            jvm.removeTransformer(closed);
        }
    }

    /** What the agent cannot even read, it cannot make fail: then it must not claim so. */
    @Test
    void aKafkaThatIsLoadedAlreadyAndCannotBeReadIsReportedAsItIs() {
        String name = "hidden/common/network/Selector";
        byte[] unreadable = classFile(name, "dial", "()Lhidden/common/network/Selectable;");
        unreadable[7] = 127; // the class file's version
        String reported = stderrOf(() -> assertNull(new HookTransformer(true).transform(null, name, String.class, null, unreadable)));
        assertTrue(reported.contains("so its clients are NOT translated and NOT refused, because it was loaded before the agent"), reported);
    }

    /** A class as a Kafka of no known release might have it, initialized. */
    private static Class<?> unknownSelector() throws ClassNotFoundException {
        String name = "hidden.common.network.Selector";
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        writer.visit(Opcodes.V11, Opcodes.ACC_PUBLIC, name.replace('.', '/'), null, "java/lang/Object", null);
        MethodVisitor code = writer.visitMethod(Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC, "dial", "()Ljava/lang/String;", null, null);
        code.visitCode();
        code.visitLdcInsn("dialled");
        code.visitInsn(Opcodes.ARETURN);
        code.visitMaxs(0, 0);
        code.visitEnd();
        writer.newConst("hidden/common/network/Selectable");
        byte[] bytes = writer.toByteArray();
        return Class.forName(name, true, new ClassLoader() {
            @Override
            protected Class<?> findClass(String wanted) {
                return defineClass(wanted, bytes, 0, bytes.length);
            }
        });
    }

    /** This JVM, in which nothing but `loaded` is there yet: other tests have hooked their Kafka already. */
    private static Instrumentation withOnly(Instrumentation jvm, Class<?> loaded) {
        return (Instrumentation) Proxy.newProxyInstance(HookTransformerTest.class.getClassLoader(), new Class<?>[] {Instrumentation.class},
                (proxy, method, arguments) -> method.getName().equals("getAllLoadedClasses") ? new Class<?>[] {loaded} : method.invoke(jvm, arguments));
    }

    private static byte[] classFile(String name, String method, String descriptor) {
        ClassWriter writer = new ClassWriter(0);
        writer.visit(Opcodes.V11, Opcodes.ACC_ABSTRACT, name, null, "java/lang/Object", null);
        writer.visitMethod(Opcodes.ACC_ABSTRACT, method, descriptor, null, null).visitEnd();
        return writer.toByteArray();
    }

    private static String stderrOf(Runnable work) {
        PrintStream before = System.err;
        ByteArrayOutputStream words = new ByteArrayOutputStream();
        System.setErr(new PrintStream(words, true, StandardCharsets.UTF_8));
        try {
            work.run();
        } finally {
            System.setErr(before);
        }
        return words.toString(StandardCharsets.UTF_8);
    }
}
