package io.brokernat.agent;

import io.brokernat.agent.address.MapException;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.util.Collections;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import net.bytebuddy.agent.ByteBuddyAgent;

/**
 * Loads the agent into the running JVM, from the jar of this class. Works in any class loader: the agent itself is in
 * the system class loader, and this class reads only a system property.
 */
public final class SelfAttach {
    private static final String PROOF = "io/brokernat/agent/proof/";
    private static final String CLASS = ".class";

    private SelfAttach() {}

    /** @throws IllegalStateException if this JVM does not allow attach; with the fix */
    public static void ensureRunning() {
        ensureRunning("");
    }

    /**
     * @param argument as for {@code -javaagent}; empty accepts any running agent
     * @throws IllegalStateException if this JVM does not allow attach, or an agent with another map runs in it; with
     * the fix
     */
    public static void ensureRunning(String argument) {
        // One lock for all copies of this class: strings are interned per JVM.
        synchronized ("io.brokernat.agent.SelfAttach".intern()) {
            if (System.getProperty(Agent.VERSION) == null) {
                attach(argument);
            } else if (!argument.isEmpty()) {
                requireMap(argument);
            }
        }
    }

    private static void requireMap(String argument) {
        String problem = "with another map";
        try {
            MapInForce asked = AgentArgument.parse(argument);
            if (asked == null || asked.map.fingerprint().equals(System.getProperty(Agent.MAP))) {
                return;
            }
        } catch (MapException e) {
            problem = "and the map asked for cannot be used (" + e.getMessage() + ")";
        }
        throw new IllegalStateException("a brokernat agent runs in this JVM already, " + problem + "; remove its -javaagent or give it the same map");
    }

    private static void attach(String argument) {
        File jar = jar();
        try {
            loadProof(jar);
            ByteBuddyAgent.attach(jar, Long.toString(ProcessHandle.current().pid()), argument);
        } catch (IOException | ReflectiveOperationException | RuntimeException | LinkageError e) {
            throw new IllegalStateException(
                    "the brokernat agent cannot be loaded into this running JVM (" + e
                            + "); allow it with -XX:+EnableDynamicAgentLoading and a Java that has the module jdk.attach, or start the JVM with -javaagent:"
                            + jar,
                    e);
        }
        if (System.getProperty(Agent.VERSION) == null) {
            throw new IllegalStateException("the brokernat agent was attached from " + jar + " but did not start; the reason stands on stderr");
        }
    }

    /**
     * After the attach, a parent-first class loader finds our classes on the system class path. A partly loaded package
     * would then have classes of two loaders, so it is loaded completely before.
     */
    private static void loadProof(File jar) throws IOException, ReflectiveOperationException {
        try (JarFile content = new JarFile(jar)) {
            for (JarEntry entry : Collections.list(content.entries())) {
                String name = entry.getName();
                if (name.startsWith(PROOF) && name.endsWith(CLASS)) {
                    load(name.substring(0, name.length() - CLASS.length()).replace('/', '.'));
                }
            }
        }
    }

    private static void load(String type) throws ClassNotFoundException {
        try {
            Class.forName(type, false, SelfAttach.class.getClassLoader());
        } catch (LinkageError e) {
            return; // the Spark function, without Spark
        }
    }

    private static File jar() {
        try {
            return new File(SelfAttach.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException | IllegalArgumentException e) {
            throw new IllegalStateException("the brokernat agent must be loaded from a jar on this machine", e);
        }
    }
}
