package io.brokernat.agent.spark;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Map;
import org.apache.spark.api.plugin.SparkPlugin;

/** What an executor does with a plugin in a jar that Spark has shipped, as {@link MapPluginIT} starts it. */
public final class Executor {
    private Executor() {}

    public static void main(String[] jar) throws Exception {
        URL[] shipped = {Path.of(jar[0]).toUri().toURL()};
        try (URLClassLoader loader = new URLClassLoader(shipped, Executor.class.getClassLoader())) {
            Class<?> type = loader.loadClass("io.brokernat.agent.spark.MapPlugin");
            SparkPlugin plugin = (SparkPlugin) type.getDeclaredConstructor().newInstance();
            plugin.executorPlugin().init(null, Map.of());
            System.out.println("driver's part: " + plugin.driverPlugin());
        }
        System.out.println("agent " + System.getProperty("brokernat.agent.version") + ", map " + System.getProperty("brokernat.agent.map"));
    }
}
