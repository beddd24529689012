// What Java and Kafka themselves make of files: one line of answers a file, in base 64, so that anything may stand in it.
//
//   properties FOLDER    name value name value ...
//   kafka FOLDER         "ok" and what is advertised, or "refused" and why
//
// Kafka's methods are called by name: they differ between the versions.

import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;

public class KafkaSays {
    public static void main(String[] arguments) throws Exception {
        try (Stream<Path> files = Files.list(Path.of(arguments[1]))) {
            for (Path file : files.sorted().toList()) {
                List<String> answer;
                try {
                    Properties properties = new Properties();
                    try (InputStream in = Files.newInputStream(file)) {
                        properties.load(in);
                    }
                    answer = arguments[0].equals("kafka") ? kafka(properties) : entries(properties);
                } catch (IllegalArgumentException unreadable) {
                    answer = List.of("refused", String.valueOf(unreadable.getMessage()));
                }
                StringBuilder line = new StringBuilder(file.getFileName().toString());
                for (String word : answer) {
                    line.append(' ').append('.').append(Base64.getEncoder().encodeToString(word.getBytes("UTF-8")));
                }
                System.out.println(line);
            }
        }
    }

    private static List<String> entries(Properties properties) {
        List<String> found = new ArrayList<>();
        properties.forEach((name, value) -> {
            found.add((String) name);
            found.add((String) value);
        });
        return found;
    }

    private static List<String> kafka(Properties properties) throws Exception {
        Class<?> type = Class.forName("kafka.server.KafkaConfig");
        List<String> found = new ArrayList<>(List.of("ok"));
        try {
            Object config = type.getMethod("fromProps", Properties.class).invoke(null, properties);
            Object told = null;
            for (String name : List.of("effectiveAdvertisedBrokerListeners", "effectiveAdvertisedListeners", "advertisedListeners")) {
                if (told == null && has(type, name)) {
                    told = type.getMethod(name).invoke(config);
                }
            }
            for (Object endpoint : all(told)) {
                found.add(name(endpoint) + " " + call(endpoint, "host") + " " + call(endpoint, "port"));
            }
            return found;
        } catch (InvocationTargetException refused) {
            return List.of("refused", String.valueOf(refused.getCause().getMessage()));
        }
    }

    private static String name(Object endpoint) throws Exception {
        if (has(endpoint.getClass(), "listener")) {
            return String.valueOf(call(endpoint, "listener"));
        }
        Object name = call(endpoint, "listenerName");
        if (name instanceof java.util.Optional<?> optional) {
            return String.valueOf(optional.get());
        }
        return String.valueOf(call(name, "value"));
    }

    private static List<Object> all(Object collection) throws Exception {
        List<Object> found = new ArrayList<>();
        if (collection instanceof Iterable<?> iterable) {
            iterable.forEach(found::add);
            return found;
        }
        Object iterator = call(collection, "iterator");
        while ((boolean) call(iterator, "hasNext")) {
            found.add(call(iterator, "next"));
        }
        return found;
    }

    private static boolean has(Class<?> type, String name) {
        try {
            type.getMethod(name);
            return true;
        } catch (NoSuchMethodException absent) {
            return false;
        }
    }

    private static Object call(Object object, String name) throws Exception {
        Method method = object.getClass().getMethod(name);
        // Scala's iterators are of classes that are not public.
        method.setAccessible(true);
        return method.invoke(object);
    }
}
