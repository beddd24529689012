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

    private final HookTransformer transformer = new HookTransformer();
    private final String prefix;

    private HookedKafka(Path jar, String prefix) throws IOException {
        super(new URL[] {jar.toUri().toURL()}, HookedKafka.class.getClassLoader());
        this.prefix = prefix;
    }

    static HookedKafka version(String version) throws IOException {
        return new HookedKafka(Path.of("target/kafka-clients/kafka-clients-" + version + ".jar"), "");
    }

    /** @param prefix such as {@code shaded/} */
    static HookedKafka relocated(String version, String prefix) throws IOException {
        return new HookedKafka(Path.of("target/kafka-clients/kafka-clients-" + version + ".jar"), prefix);
    }

    Map<String, Integer> places() {
        return transformer.places();
    }

    /** @param name without the prefix */
    Class<?> initialized(String name) throws ClassNotFoundException {
        return Class.forName((prefix + KAFKA).replace('/', '.') + name, true, this);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.replace('.', '/').startsWith(prefix + KAFKA)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        String path = name.replace('.', '/');
        try (InputStream in = findResource(path.substring(prefix.length()) + ".class").openStream()) {
            byte[] original = relocate(in.readAllBytes());
            byte[] hooked = transformer.transform(this, path, null, null, original);
            byte[] bytes = hooked == null ? original : hooked;
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException | NullPointerException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private byte[] relocate(byte[] bytes) {
        if (prefix.isEmpty()) {
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
            return internalName.startsWith(KAFKA) ? prefix + internalName : internalName;
        }

        @Override
        public Object mapValue(Object value) {
            boolean className = value instanceof String && ((String) value).startsWith(KAFKA.replace('/', '.'));
            return className ? prefix.replace('/', '.') + value : super.mapValue(value);
        }
    }
}
