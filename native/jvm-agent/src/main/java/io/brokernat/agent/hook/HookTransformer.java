package io.brokernat.agent.hook;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.charset.StandardCharsets;
import java.security.ProtectionDomain;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;

/**
 * Inserts the hooks into Kafka's classes, also shaded ones ({@code org.acme.hidden.kafka}, {@code k38}). A class is
 * Kafka's if its name ends like Kafka's, its code mentions another Kafka class of its package, and the hooks find their
 * instructions.
 */
public final class HookTransformer implements ClassFileTransformer {
    private static final String KNOWN = "known are kafka-clients 2.0 to 4.4";
    private static final String OPEN = "so its clients are NOT translated and NOT refused";
    private static final String BECAUSE_CLOSED = ", because the agent's argument wants addresses refused";
    // Loading it as a class is an error (JVMS 4.8), so it is skipped.
    private static final byte[] NO_CLASS = {};
    private static final Target[] TARGETS = Target.values();

    private final boolean closed;
    private final Map<String, Integer> places = Collections.synchronizedMap(new TreeMap<>());
    private final Set<String> reported = Collections.synchronizedSet(new HashSet<>());

    /** A hooked class: the end of its name, and the end of another class name of its package in its code. */
    private enum Target {
        SELECTOR("common/network/Selector", "common/network/Selectable"),
        HOST_RESOLVER("clients/DefaultHostResolver", "clients/HostResolver"),
        CLIENT_UTILS("clients/ClientUtils", "common/network/ChannelBuilder"),
        CONFIG("common/config/AbstractConfig", "common/config/ConfigDef");

        private final String tail;
        private final String neighbour;

        Target(String tail, String neighbour) {
            this.tail = tail;
            this.neighbour = neighbour;
        }

        /** By a class's internal name; null for nearly all. Called for each class that is loaded. */
        private static Target of(String name) {
            for (Target target : TARGETS) {
                if (name.endsWith(target.tail) && (name.length() == target.tail.length() || name.charAt(target.start(name) - 1) == '/')) {
                    return target;
                }
            }
            return null;
        }

        private int start(String name) {
            return name.length() - tail.length();
        }

        /** Reads the texts of the constant pool, which works for class files of any version. */
        private boolean isKafkas(String name, byte[] bytes) {
            return new String(bytes, StandardCharsets.ISO_8859_1).contains(name.substring(0, start(name)) + neighbour);
        }

        /**
         * @param found counts the places that the map requires
         * @param others counts the other places
         */
        private ClassVisitor hooks(ClassVisitor next, AtomicInteger found, AtomicInteger others) {
            switch (this) {
                case SELECTOR:
                    return new ConnectHook(next, found);
                case HOST_RESOLVER:
                    return new ResolveHook(next, found);
                case CLIENT_UTILS:
                    return new ChannelBuilderHook(new BootstrapHook(new ResolveHook(next, others), others), found);
                default:
                    return new ConfigHook(next, found);
            }
        }
    }

    /** @param closed whether the JVM's map refuses endpoints: then a Kafka that cannot be hooked cannot be used */
    public HookTransformer(boolean closed) {
        this.closed = closed;
    }

    /** Transforms classes from now on, and those already loaded. */
    public void install(Instrumentation instrumentation) {
        instrumentation.addTransformer(this, true);
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (Target.of(loaded.getName().replace('.', '/')) != null) {
                retransform(instrumentation, loaded);
            }
        }
    }

    private void retransform(Instrumentation instrumentation, Class<?> loaded) {
        try {
            instrumentation.retransformClasses(loaded);
        } catch (UnmodifiableClassException | LinkageError e) {
            report(loaded.getName(), "was loaded before the agent and cannot be changed (" + e + "), " + OPEN + "; start the JVM with -javaagent");
        }
    }

    /** Hooked classes with their number of places; a class of several class loaders is listed once. */
    public Map<String, Integer> places() {
        synchronized (places) {
            return new TreeMap<>(places);
        }
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        Target target = name == null ? null : Target.of(name);
        if (target == null) {
            return null;
        }
        if (!target.isKafkas(name, bytes)) {
            report(name, "has the name of a class of Kafka and other code; it is left alone");
            return null;
        }
        try {
            byte[] hooked = hook(name, target, bytes);
            return hooked == null ? unknown(name, redefined != null, bytes, "the instructions to hook are not found") : hooked;
        } catch (Throwable fault) { // the JVM would swallow it, and the missing translation would have no explanation
            return unknown(name, redefined != null, bytes, fault.toString());
        }
    }

    private byte[] hook(String name, Target target, byte[] bytes) {
        AtomicInteger found = new AtomicInteger();
        AtomicInteger others = new AtomicInteger();
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(target.hooks(writer, found, others), 0);
        places.put(name, found.get() + others.get());
        return found.get() == 0 ? null : writer.toByteArray();
    }

    private byte[] unknown(String name, boolean loaded, byte[] bytes, String reason) {
        byte[] instead = null;
        String outcome = OPEN;
        if (closed && !loaded) {
            instead = NO_CLASS;
            outcome = "so it is not loaded" + BECAUSE_CLOSED;
        } else if (closed) {
            instead = refusing(name, bytes);
            outcome = instead == null ? OPEN + ", because it was loaded before the agent; start the JVM with -javaagent"
                    : "so each call of it fails" + BECAUSE_CLOSED;
        }
        report(name, "is Kafka's in a form that this agent does not know (" + reason + "), " + outcome + "; " + KNOWN);
        return instead;
    }

    /** A class that is loaded already stays; null where it cannot even be read. */
    private static byte[] refusing(String name, byte[] bytes) {
        try {
            ClassReader reader = new ClassReader(bytes);
            ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
            reader.accept(new Refusal(writer, "refused: the brokernat agent does not know this form of " + name.replace('/', '.')), 0);
            return writer.toByteArray();
        } catch (RuntimeException e) {
            return null;
        }
    }

    private void report(String className, String words) {
        String name = className.replace('/', '.');
        if (reported.add(name)) {
            System.err.println("[brokernat] " + name + " " + words);
        }
    }
}
