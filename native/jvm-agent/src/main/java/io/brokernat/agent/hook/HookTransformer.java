package io.brokernat.agent.hook;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;

/**
 * Puts the hooks into Kafka's classes. They are known by the end of their names, so that relocated copies
 * ({@code org/apache/flink/kafka/shaded/org/apache/kafka/...}) are covered.
 */
public final class HookTransformer implements ClassFileTransformer {
    private static final String SELECTOR = "org/apache/kafka/common/network/Selector";
    private static final String HOST_RESOLVER = "org/apache/kafka/clients/DefaultHostResolver";
    private static final String CLIENT_UTILS = "org/apache/kafka/clients/ClientUtils";
    private static final String CONFIG = "org/apache/kafka/common/config/AbstractConfig";
    private static final String[] HOOKED = {SELECTOR, HOST_RESOLVER, CLIENT_UTILS, CONFIG};

    private final Map<String, Integer> places = Collections.synchronizedMap(new TreeMap<>());

    /** From now on, and in the classes that are loaded already. */
    public void install(Instrumentation instrumentation) {
        instrumentation.addTransformer(this, true);
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (hookedName(loaded.getName().replace('.', '/')) != null) {
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
            String hooked = name == null ? null : hookedName(name);
            return hooked == null ? null : hook(name, hooked, bytes);
        } catch (Throwable fault) { // the JVM would swallow it, and nobody would know why nothing is translated
            System.err.println("[brokernat] " + name + " cannot be changed: " + fault);
            return null;
        }
    }

    private byte[] hook(String name, String hooked, byte[] bytes) {
        AtomicInteger found = new AtomicInteger();
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(hooks(hooked, writer, found), 0);
        places.put(name, found.get());
        return found.get() == 0 ? null : writer.toByteArray();
    }

    private static ClassVisitor hooks(String hooked, ClassVisitor next, AtomicInteger found) {
        switch (hooked) {
            case SELECTOR:
                return new ConnectHook(next, found);
            case HOST_RESOLVER:
                return new ResolveHook(next, found);
            case CLIENT_UTILS:
                return new AdoptHook(new BootstrapHook(new ResolveHook(next, found), found), found);
            case CONFIG:
                return new LearnHook(next, found);
            default:
                throw new IllegalArgumentException(hooked);
        }
    }

    /** The class's name without what shading put in front of it, or null where it has no hooks. */
    private static String hookedName(String name) {
        for (String hooked : HOOKED) {
            int start = name.length() - hooked.length();
            if (name.endsWith(hooked) && (start == 0 || name.charAt(start - 1) == '/')) {
                return hooked;
            }
        }
        return null;
    }
}
