package io.brokernat.spark;

import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import java.io.IOException;
import java.io.Serializable;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.SchemaParseException;

/**
 * A schema registry with Confluent's API, as one pipeline uses it.
 *
 * <p>A schema never changes, so a JVM requests each one once and keeps the last {@link #MOST_SCHEMAS}. An unknown id is
 * requested again after a while, because its schema may be new.
 *
 * <p>Only the registry's own answer that it has no such schema is a fault of the record. Any other response without a
 * schema (no connection, no login, another server behind the URL) is the pipeline's problem: the request is retried if
 * that may help, then the task fails, and no record becomes a dead letter for it.
 */
public final class Registry implements Serializable {
    private static final long serialVersionUID = 1;

    /** The registries' names of formats. */
    static final String AVRO = "AVRO", PROTOBUF = "PROTOBUF";

    static final int MOST_SCHEMAS = 1_000;
    private static final long PATIENCE_NANOS = 60_000_000_000L;
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 5_000;
    private static final long UNKNOWN_FOR_NANOS = 10_000_000_000L;

    /** By the name in functions; not by URL and login, because Spark shows functions. */
    private static final Map<String, Registry> NAMED = new ConcurrentHashMap<>();

    private static final Map<Map.Entry<Registry, String>, Cache> CACHES = new ConcurrentHashMap<>();

    private final String url;
    private final String address;
    private final String authorization;
    private final boolean stopsOnUnknown;

    private Registry(String url, String address, String authorization, boolean stopsOnUnknown) {
        this.url = url;
        this.address = address;
        this.authorization = authorization;
        this.stopsOnUnknown = stopsOnUnknown;
    }

    /**
     * Adds a registry to this JVM; called from Python on the driver.
     *
     * @param address {@code host:port} to dial instead of the URL's; null for the URL's own.
     * @param authorization the value of the header; null without a login.
     * @param stopsOnUnknown whether an id that the registry does not have fails the task.
     * @return the name for functions.
     */
    public static String add(String url, String address, String authorization, boolean stopsOnUnknown) {
        Registry added = new Registry(url, address, authorization, stopsOnUnknown);
        synchronized (NAMED) {
            for (Map.Entry<String, Registry> known : NAMED.entrySet()) {
                if (known.getValue().equals(added)) {
                    return known.getKey();
                }
            }
            String name = "registry-" + (NAMED.size() + 1);
            NAMED.put(name, added);
            return name;
        }
    }

    /** Null for {@code none}. */
    static Registry named(String name) {
        Registry found = NAMED.get(name);
        if (found == null && !name.equals("none")) {
            throw new IllegalArgumentException("there is no " + name);
        }
        return found;
    }

    /** The registry has no schema with this id that the decoder can read; a fault of the record. */
    static final class UnknownSchemaException extends Exception {
        private static final long serialVersionUID = 1;

        UnknownSchemaException(String message) {
            super(message);
        }
    }

    /**
     * The schema of an id.
     *
     * @param format {@link #AVRO} for a {@link Schema}, or {@link #PROTOBUF} for a {@link FileDescriptor}.
     * @throws UnknownSchemaException if the registry has none with this id, or one of another format.
     * @throws RegistryException if the registry cannot be used, or has none and {@code stopsOnUnknown} is set.
     */
    Object schema(int id, String format) throws UnknownSchemaException {
        Object found = cache(format).get(id, () -> look(id, format));
        if (!(found instanceof String)) {
            return found;
        }
        if (stopsOnUnknown) {
            throw new RegistryException(found + "; `on_unknown_schema: stop` ends the run");
        }
        throw new UnknownSchemaException((String) found);
    }

    /**
     * The newest schema of a subject; called from Python on the driver.
     *
     * @param message the full name of a Protobuf message; null for the only one.
     * @return its id and its text: the Avro schema with its references, or the Protobuf message with its descriptors;
     *     null if there is no such subject.
     * @throws RegistryException if the registry or its schema cannot be used.
     */
    public static String[] newest(String name, String subject, String format, String message) {
        Map<String, Object> answer = named(name).get("/subjects/" + encoded(subject) + "/versions/latest");
        if (answer == null) {
            return null;
        }
        String what = "the schema of the subject `" + subject + "`";
        Object found = named(name).parsed(answer, format, what);
        if (found instanceof String) {
            throw new RegistryException((String) found);
        }
        String id = (String) answer.get("id");
        if (found instanceof Schema) {
            return new String[] {id, found.toString()};
        }
        FileDescriptor file = (FileDescriptor) found;
        List<String> outermost = file.getMessageTypes().stream().map(Descriptor::getFullName).collect(Collectors.toList());
        if (message == null && outermost.size() != 1) {
            throw new RegistryException(what + " has " + outermost.size() + " messages: name one of them by `message`: "
                    + String.join(", ", outermost));
        }
        Descriptor chosen = ProtobufSchema.named(file, message == null ? outermost.get(0) : message);
        if (chosen == null) {
            throw new RegistryException(what + " has no message `" + message + "`; it has " + String.join(", ", outermost));
        }
        return new String[] {id, ProtobufSchema.json(chosen)};
    }

    /**
     * The id of an Avro schema in a subject; called from Python on the driver.
     *
     * @param registers whether a schema that the subject does not have becomes its next version.
     * @return null if the subject does not have it.
     * @throws RegistryException if the registry cannot be used or rejects the schema.
     */
    public static Integer idOf(String name, String subject, String schema, boolean registers) {
        String path = "/subjects/" + encoded(subject) + (registers ? "/versions" : "");
        Map<String, String> body = Map.of("schema", schema);
        Map<String, Object> answer = named(name).ask(path, body);
        if (answer == null && !registers) {
            // Without `normalize` Apicurio compares texts, not schemas; Confluent's registry always compares schemas.
            answer = named(name).ask(path + "?normalize=true", body);
        }
        return answer == null ? null : Integer.valueOf((String) answer.get("id"));
    }

    private Cache cache(String format) {
        return CACHES.computeIfAbsent(Map.entry(this, format), unknown -> new Cache());
    }

    /** A schema, or the reason why there is none. */
    private Object look(int id, String format) {
        Map<String, Object> answer = get("/schemas/ids/" + id);
        if (answer == null) {
            return "the schema registry has no schema with the id " + id;
        }
        return parsed(answer, format, "the schema with the id " + id);
    }

    /** The schema of an answer, or the reason why there is none; {@code what} names it. */
    private Object parsed(Map<String, Object> answer, String format, String what) {
        Object type = answer.getOrDefault("schemaType", AVRO);
        if (!type.equals(format)) {
            return what + " is " + type + ", not " + format;
        }
        try {
            return format.equals(AVRO) ? avro(answer) : protobuf(answer);
        } catch (ProtoText.UnreadableException | DescriptorValidationException error) {
            return what + " is not one that is read: " + error.getMessage();
        } catch (AvroRuntimeException | ClassCastException | NullPointerException error) {
            return what + " is not one that " + (format.equals(AVRO) ? "Avro" : "Protobuf") + " reads";
        }
    }

    private Schema avro(Map<String, Object> answer) {
        // A reader does not use a writer's defaults.
        Schema.Parser parser = new Schema.Parser().setValidateDefaults(false);
        Map<String, String> texts = new LinkedHashMap<>();
        addReferences(texts, answer);
        texts.forEach((type, text) -> {
            if (!parser.getTypes().containsKey(type)) {
                parser.parse(text);
            }
        });
        return parser.parse((String) answer.get("schema"));
    }

    private FileDescriptor protobuf(Map<String, Object> answer) throws DescriptorValidationException {
        Map<String, String> texts = new LinkedHashMap<>();
        addReferences(texts, answer);
        List<FileDescriptorProto> files = new ArrayList<>();
        texts.forEach((path, text) -> files.add(ProtoText.parse(path, text)));
        files.add(ProtoText.parse("", (String) answer.get("schema")));
        FileDescriptor[] linked = ProtobufSchema.linked(files);
        return linked[linked.length - 1];
    }

    /** Adds the texts of a schema's references by their names, the innermost first. */
    private void addReferences(Map<String, String> texts, Map<String, Object> answer) {
        for (Object each : (List<?>) answer.getOrDefault("references", List.of())) {
            Map<?, ?> reference = (Map<?, ?>) each;
            String name = String.valueOf(reference.get("name"));
            if (texts.containsKey(name)) {
                continue;
            }
            String subject = encoded(reference.get("subject"));
            Map<String, Object> found = get("/subjects/" + subject + "/versions/" + reference.get("version"));
            if (found == null) {
                throw new SchemaParseException("no subject " + subject);
            }
            addReferences(texts, found);
            texts.put(name, (String) found.get("schema"));
        }
    }

    private static String encoded(Object segment) {
        return URLEncoder.encode(String.valueOf(segment), StandardCharsets.UTF_8).replace("+", "%20");
    }

    private Map<String, Object> get(String path) {
        return ask(path, null);
    }

    /**
     * Requests an object of the registry until there is an answer; null if it has no such object.
     *
     * @param body the strings of a JSON object to send by POST; null for GET.
     */
    private Map<String, Object> ask(String path, Map<String, String> body) {
        long started = System.nanoTime();
        long pause = FIRST_PAUSE_MILLIS;
        while (true) {
            String failure;
            try {
                RegistryAnswer answer = RegistryAnswer.to(URI.create(url + path).toURL(), address, authorization, body);
                if (answer.status == 200 && answer.content != null) {
                    return answer.content;
                }
                // The registry's own codes begin with 404 (subject, version, schema). Another server's 404 has none.
                Object code = answer.content == null ? null : answer.content.get("error_code");
                if (answer.status == 404 && code != null && code.toString().matches("404\\d\\d")) {
                    return null;
                }
                failure = "HTTP status " + answer.status + (answer.status == 200 ? " without a JSON object" : "");
                if (answer.status < 500 && answer.status != 429 && answer.status != 408) {
                    throw new RegistryException(sentence(path, failure));
                }
            } catch (IOException error) {
                failure = error.toString();
            }
            if (System.nanoTime() - started > PATIENCE_NANOS) {
                throw new RegistryNotAvailableException(sentence(path, failure) + ", for a minute");
            }
            try {
                Thread.sleep(pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2 + 1));
            } catch (InterruptedException killed) {
                Thread.currentThread().interrupt();
                throw new RegistryException(sentence(path, failure) + ", until the task was stopped");
            }
            pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
        }
    }

    private String sentence(String path, String failure) {
        String dialled = address == null ? "" : " (at " + address + ")";
        return "the schema registry " + url + dialled + " cannot be used: " + path + ": " + failure;
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof Registry)) {
            return false;
        }
        Registry that = (Registry) other;
        return url.equals(that.url)
                && Objects.equals(address, that.address)
                && Objects.equals(authorization, that.authorization)
                && stopsOnUnknown == that.stopsOnUnknown;
    }

    @Override
    public int hashCode() {
        return Objects.hash(url, address, authorization, stopsOnUnknown);
    }

    @Override
    public String toString() {
        return "Registry[" + url + "]";
    }

    /** The result for each id: a schema, or the reason why there is none, and until when that is valid. */
    private static final class Cache {
        private final Map<Integer, Object> known = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Integer, Object> eldest) {
                return size() > MOST_SCHEMAS;
            }
        };
        private final Map<Integer, Long> unknownUntil = new LinkedHashMap<>();

        /** One request at a time, because the tasks of a JVM usually need the same schema. */
        Object get(int id, Supplier<Object> ask) {
            Object found = look(id);
            if (found != null) {
                return found;
            }
            synchronized (this) {
                found = look(id);
                if (found == null) {
                    found = ask.get();
                    keep(id, found);
                }
                return found;
            }
        }

        private Object look(int id) {
            synchronized (known) {
                Long until = unknownUntil.get(id);
                return until != null && until - System.nanoTime() < 0 ? null : known.get(id);
            }
        }

        private void keep(int id, Object found) {
            synchronized (known) {
                known.put(id, found);
                unknownUntil.keySet().retainAll(known.keySet());
                if (found instanceof String) {
                    unknownUntil.put(id, System.nanoTime() + UNKNOWN_FOR_NANOS);
                } else {
                    unknownUntil.remove(id);
                }
            }
        }
    }
}
