package io.brokernat.agent.proof;

import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.function.Function;

/**
 * Loads {@link KafkaQueries} with a class loader that finds Kafka. With {@code -javaagent} alone, this package is in
 * the system class loader and Kafka is in a child of it ({@code spark.jars}), so normal linking fails. Then the one
 * class that links Kafka is defined again, from its bytes, below the context class loader.
 */
final class KafkaLoader extends ClassLoader {
    private static final String QUERIES = "io.brokernat.agent.proof.KafkaQueries";
    private static final String KAFKA = "org.apache.kafka.clients.admin.AdminClient";

    private KafkaLoader(ClassLoader parent) {
        super(parent);
    }

    /** The class loader of the application's Kafka. */
    static ClassLoader context() {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        return context == null ? KafkaLoader.class.getClassLoader() : context;
    }

    /** @throws ClassNotFoundException if kafka-clients is missing */
    @SuppressWarnings("unchecked")
    static Function<Map<String, Object>, Map<String, Object>> queries() throws ReflectiveOperationException, IOException {
        Class<?> kafka = Class.forName(KAFKA, false, context());
        ClassLoader own = KafkaLoader.class.getClassLoader();
        Class<?> queries = kafka == seenFrom(own) ? Class.forName(QUERIES, true, own) : new KafkaLoader(context()).define();
        return (Function<Map<String, Object>, Map<String, Object>>) queries.getDeclaredConstructor().newInstance();
    }

    private static Class<?> seenFrom(ClassLoader loader) {
        try {
            return Class.forName(KAFKA, false, loader);
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    private Class<?> define() throws IOException {
        String path = QUERIES.replace('.', '/') + ".class";
        try (InputStream in = KafkaLoader.class.getClassLoader().getResourceAsStream(path)) {
            byte[] bytes = in.readAllBytes();
            return defineClass(QUERIES, bytes, 0, bytes.length);
        }
    }
}
