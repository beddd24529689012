package io.brokernat.agent.hook;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.Remapper;

/** One version of kafka-clients as it came from its jar, its classes hooked when they are loaded; perhaps relocated as shading does. */
final class HookedKafka extends URLClassLoader {
    private static final String KAFKA = "org/apache/kafka/";

    private final HookTransformer transformer = new HookTransformer(false);
    private final String home;

    private HookedKafka(Path jar, String home) throws IOException {
        super(new URL[] {jar.toUri().toURL()}, HookedKafka.class.getClassLoader());
        this.home = home;
    }

    static HookedKafka version(String version) throws IOException {
        return new HookedKafka(Path.of("target/kafka-clients/kafka-clients-" + version + ".jar"), KAFKA);
    }

    /** @param home where {@code org/apache/kafka/} is moved to, such as {@code shaded/kafka/} */
    static HookedKafka relocated(String version, String home) throws IOException {
        return new HookedKafka(Path.of("target/kafka-clients/kafka-clients-" + version + ".jar"), home);
    }

    Map<String, Integer> places() {
        return transformer.places();
    }

    /** @param name without {@code org.apache.kafka.} */
    Class<?> initialized(String name) throws ClassNotFoundException {
        return Class.forName(home.replace('/', '.') + name, true, this);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.replace('.', '/').startsWith(home)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        String path = name.replace('.', '/');
        try (InputStream in = findResource(KAFKA + path.substring(home.length()) + ".class").openStream()) {
            byte[] original = relocate(in.readAllBytes());
            byte[] hooked = transformer.transform(this, path, null, null, original);
            byte[] bytes = hooked == null ? original : hooked;
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException | NullPointerException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private byte[] relocate(byte[] bytes) {
        if (home.equals(KAFKA)) {
            return bytes;
        }
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(0);
        reader.accept(new ClassRemapper(writer, new Shading()), 0);
        return writer.toByteArray();
    }

    /** As maven-shade does: class names, and strings that are class names. */
    private final class Shading extends Remapper {
        @SuppressWarnings("deprecation")
        Shading() {}

        @Override
        public String map(String internalName) {
            return internalName.startsWith(KAFKA) ? home + internalName.substring(KAFKA.length()) : internalName;
        }

        @Override
        public Object mapValue(Object value) {
            String text = value instanceof String ? (String) value : "";
            boolean className = text.startsWith(KAFKA.replace('/', '.'));
            return className ? home.replace('/', '.') + text.substring(KAFKA.length()) : super.mapValue(value);
        }
    }
}
