import java.io.File;
import java.io.FileWriter;
import java.io.Writer;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/**
 * A resource manager and node managers until standard input ends: `MiniYarn NODES CONF_DIR`.
 *
 * <p>The folders of the containers are made in the working directory. CONF_DIR gets what a client needs, as HADOOP_CONF_DIR
 * has it; its last file, `yarn-site.xml`, has its name when the cluster is ready.
 */
public final class MiniYarn {
    private static final String HERE = "127.0.0.1:0";
    private static final String[] ADDRESSES = {
        YarnConfiguration.RM_ADDRESS,
        YarnConfiguration.RM_ADMIN_ADDRESS,
        YarnConfiguration.RM_SCHEDULER_ADDRESS,
        YarnConfiguration.RM_RESOURCE_TRACKER_ADDRESS,
        YarnConfiguration.RM_WEBAPP_ADDRESS,
        YarnConfiguration.NM_ADDRESS,
        YarnConfiguration.NM_LOCALIZER_ADDRESS,
        YarnConfiguration.NM_WEBAPP_ADDRESS,
    };

    public static void main(String[] arguments) {
        int code = 1;
        try {
            run(Integer.parseInt(arguments[0]), arguments[1]);
            code = 0;
        } catch (Exception | LinkageError problem) {
            problem.printStackTrace();
        }
        // Threads of the cluster outlive it.
        Runtime.getRuntime().halt(code);
    }

    private static void run(int nodes, String folder) throws Exception {
        YarnConfiguration settings = new YarnConfiguration();
        settings.set("fs.defaultFS", "file:///");
        // Else the cluster listens, and tells clients to connect, where the name of this machine leads.
        settings.setBoolean(YarnConfiguration.YARN_MINICLUSTER_FIXED_PORTS, true);
        for (String address : ADDRESSES) {
            settings.set(address, HERE);
        }
        settings.set(
                YarnConfiguration.RM_SCHEDULER,
                "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler");
        settings.setInt(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, 128);
        settings.setInt(YarnConfiguration.NM_PMEM_MB, 3072);
        settings.setInt(YarnConfiguration.NM_VCORES, 4);
        settings.setBoolean(YarnConfiguration.NM_PMEM_CHECK_ENABLED, false);
        settings.setBoolean(YarnConfiguration.NM_VMEM_CHECK_ENABLED, false);
        // A disk that is nearly full makes a node unhealthy.
        settings.setBoolean(YarnConfiguration.NM_DISK_HEALTH_CHECK_ENABLE, false);

        MiniYARNCluster cluster = new MiniYARNCluster("yarn", nodes, 1, 1);
        cluster.init(settings);
        cluster.start();
        if (!cluster.waitForNodeManagersToConnect(60_000)) {
            throw new IllegalStateException("not all node managers are at the resource manager");
        }
        File ready = new File(folder, "yarn-site.xml");
        File begun = new File(folder, "yarn-site.new");
        try (Writer file = new FileWriter(begun)) {
            cluster.getConfig().writeXml(file);
        }
        if (!begun.renameTo(ready)) {
            throw new IllegalStateException("cannot write " + ready);
        }
        while (System.in.read() >= 0) {}
        cluster.stop();
    }
}
