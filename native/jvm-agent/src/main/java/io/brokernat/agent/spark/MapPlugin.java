package io.brokernat.agent.spark;

import io.brokernat.agent.SelfAttach;
import java.util.Map;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Loads the agent into each executor of an unchanged job, with the map in the executor's environment (set by
 * {@code spark.executorEnv}). Spark creates its plugins before the first task, from the shipped jars. {@code brokernat
 * exec} has already started the driver with the agent.
 *
 * <p>If a map with {@code fail} cannot be applied, the executor does not start, because its tasks would send their
 * login to the advertised addresses. Spark's driver logs the reason and gives the executor no task.
 */
public final class MapPlugin implements SparkPlugin {
    static final String MAP = "BROKERNAT_MAP";
    static final String UNMAPPED = "BROKERNAT_UNMAPPED";
    private static final String PASS = "pass";

    @Override
    public DriverPlugin driverPlugin() {
        return null;
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new AtStart();
    }

    private static final class AtStart implements ExecutorPlugin {
        @Override
        public void init(PluginContext context, Map<String, String> settings) {
            String map = System.getenv(MAP);
            String unmapped = System.getenv(UNMAPPED);
            if (map == null) {
                return;
            }
            try {
                SelfAttach.ensureRunning(unmapped == null ? map : map + ";unmapped=" + unmapped);
            } catch (IllegalStateException e) {
                if (unmapped != null && !unmapped.equals(PASS)) {
                    throw new IllegalStateException("[brokernat] this executor is refused, because its map cannot be applied: " + e.getMessage(), e);
                }
                System.err.println("[brokernat] nothing is translated in this executor: " + e.getMessage());
            }
        }
    }
}
