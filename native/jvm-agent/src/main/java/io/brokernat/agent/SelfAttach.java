package io.brokernat.agent;

import java.io.File;
import java.net.URISyntaxException;
import net.bytebuddy.agent.ByteBuddyAgent;

/**
 * Loads the agent into the running JVM, from the jar that this class came from. Works in any class loader: the agent itself then
 * lives in the system class loader, and only a system property is read here.
 */
final class SelfAttach {
    private SelfAttach() {}

    /** @throws IllegalStateException where this JVM lets nobody attach; says what to do instead */
    static void ensureRunning() {
        // One lock for all copies of this class: strings are interned per JVM.
        synchronized ("io.brokernat.agent.SelfAttach".intern()) {
            if (System.getProperty(Agent.VERSION) == null) {
                attach();
            }
        }
    }

    private static void attach() {
        File jar = jar();
        try {
            ByteBuddyAgent.attach(jar, Long.toString(ProcessHandle.current().pid()));
        } catch (RuntimeException | LinkageError e) {
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

    private static File jar() {
        try {
            return new File(SelfAttach.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException | IllegalArgumentException e) {
            throw new IllegalStateException("the brokernat agent must be loaded from a jar on this machine", e);
        }
    }
}
