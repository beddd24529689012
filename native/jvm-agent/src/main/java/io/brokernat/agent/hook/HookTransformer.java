package io.brokernat.agent.hook;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;

/**
 * Puts the hooks into Kafka's classes. They are known by the end of their names, so that relocated copies
 * ({@code org/apache/flink/kafka/shaded/org/apache/kafka/...}) are covered.
 */
public final class HookTransformer implements ClassFileTransformer {
    private static final Map<String, List<HookPoint.Factory>> HOOKS = Map.of(
            "org/apache/kafka/common/network/Selector", List.of(ConnectHook::new),
            "org/apache/kafka/clients/DefaultHostResolver", List.of(ResolveHook::new),
            "org/apache/kafka/clients/ClientUtils", List.of(ResolveHook::new, BootstrapHook::new, AdoptHook::new),
            "org/apache/kafka/common/config/AbstractConfig", List.of(LearnHook::new));

    private final Map<String, Integer> places = Collections.synchronizedMap(new TreeMap<>());

    /** From now on, and in the classes that are loaded already. */
    public void install(Instrumentation instrumentation) {
        instrumentation.addTransformer(this, true);
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (!hooksOf(loaded.getName().replace('.', '/')).isEmpty()) {
                retransform(instrumentation, loaded);
            }
        }
    }

    private static void retransform(Instrumentation instrumentation, Class<?> loaded) {
        try {
            instrumentation.retransformClasses(loaded);
        } catch (UnmodifiableClassException | LinkageError e) {
            System.err.println("[brokernat] " + loaded.getName() + " cannot be changed: " + e);
        }
    }

    /** Hooked classes, and in how many places each; a class that several class loaders have is listed once. */
    public Map<String, Integer> places() {
        synchronized (places) {
            return new TreeMap<>(places);
        }
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        try {
            List<HookPoint.Factory> hooks = name == null ? List.of() : hooksOf(name);
            return hooks.isEmpty() ? null : hook(name, hooks, bytes);
        } catch (Throwable fault) { // the JVM would swallow it, and nobody would know why nothing is translated
            System.err.println("[brokernat] " + name + " cannot be changed: " + fault);
            return null;
        }
    }

    private byte[] hook(String name, List<HookPoint.Factory> hooks, byte[] bytes) {
        int[] found = new int[1];
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        ClassVisitor chain = writer;
        for (HookPoint.Factory hook : hooks) {
            chain = hook.over(chain, () -> found[0]++);
        }
        reader.accept(chain, 0);
        places.put(name, found[0]);
        return found[0] == 0 ? null : writer.toByteArray();
    }

    private static List<HookPoint.Factory> hooksOf(String name) {
        for (Map.Entry<String, List<HookPoint.Factory>> entry : HOOKS.entrySet()) {
            if (name.endsWith(entry.getKey()) && isWhole(name, entry.getKey())) {
                return entry.getValue();
            }
        }
        return List.of();
    }

    private static boolean isWhole(String name, String suffix) {
        return name.length() == suffix.length() || name.charAt(name.length() - suffix.length() - 1) == '/';
    }
}
